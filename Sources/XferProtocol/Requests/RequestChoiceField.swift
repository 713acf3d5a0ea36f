import StrictJSON
import XferModel

/// A choice of a request on the wire, declared once for new tasks, changes, shown tasks and profiles.
struct RequestChoiceField: Sendable {
    /// How `task.update` changes the field.
    enum Change: Sendable {
        case anytime(String)
        /// Not while the task runs.
        case stopped(String)
    }

    let name: String
    /// What the field means in a new task; it names the default.
    let inTask: String
    /// What the field means in a task that is shown.
    let inRecord: String
    let inProfile: String
    /// Nil when the field cannot change.
    let change: Change?
    let limits: [WireLimit]
    let example: JSONValue?
    private let declaration: any ChoiceDeclaration

    init<Value: WireValue>(
        _ name: String, _ choice: any WritableKeyPath<TransferRequest.Choices, Patch<Value>> & Sendable,
        task: String, record: String, profile: String, change: Change? = nil, limits: [WireLimit] = [],
        example: JSONValue? = nil
    ) {
        self.name = name
        (inTask, inRecord, inProfile, self.change) = (task, record, profile, change)
        (self.limits, self.example) = (limits, example)
        declaration = TypedChoice(name: name, choice: choice)
    }
}

extension RequestChoiceField {
    static let request = [
        RequestChoiceField(
            "redirect", \.redirect, task: "Whether redirects are followed; default follow.",
            record: "Whether redirects are followed.", profile: "Whether redirects are followed."),
        RequestChoiceField(
            "allow_downgrade", \.allowsDowngrade,
            task: "Whether a redirect may lead from https to http; default false.",
            record: "Whether a redirect may lead from https to http.",
            profile: "Whether a redirect may lead from https to http."),
        RequestChoiceField(
            "http_version", \.httpVersion, task: "The protocol to use; default auto.", record: "The protocol to use.",
            profile: "The protocol to use."),
        RequestChoiceField(
            "connect_timeout", \.connectTimeout,
            task: "Seconds for name resolution, TCP and TLS; 0 is none; default 30.",
            record: "Seconds for name resolution, TCP and TLS; 0 is none.", profile: "Seconds; 0 is none.",
            change: .stopped("Seconds; 0 is none; only while not running."), limits: [.timeout]),
        RequestChoiceField(
            "idle_timeout", \.idleTimeout,
            task: "Seconds without a byte that end a try; 0 is none; default 15 for data, 60 for files.",
            record: "Seconds without a byte that end a try; 0 is none.",
            profile: "Seconds without a byte that end a try; 0 is none.",
            change: .stopped("Seconds; 0 is none; only while not running."), limits: [.timeout]),
        RequestChoiceField(
            "total_timeout", \.totalTimeout, task: "Seconds that one try may take; 0, the default, is none.",
            record: "Seconds that one try may take; 0 is none.",
            profile: "Seconds that one try may take; 0 is none.",
            change: .stopped("Seconds; 0 is none; only while not running."), limits: [.timeout]),
        RequestChoiceField(
            "accept_status", \.acceptedStatus, task: "Status codes that count as success; default 200-299.",
            record: "Status codes that count as success.", profile: "Status codes that count as success.",
            example: "200-299"),
        RequestChoiceField(
            "accept_types", \.acceptedTypes,
            task: "Media types that count as success, or the presets json, xml, plist, image; default all.",
            record: "Media types that count as success; absent accepts all.",
            profile: "Media types, or the presets json, xml, plist, image.", limits: [.count(0...64)],
            example: ["json"]),
    ]

    static let caching = [
        RequestChoiceField(
            "cache_policy", \.cachePolicy,
            task:
                "Whether a kept response is used: protocol (RFC 9111), prefer_cache and only_if_cached (however stale), "
                + "revalidate (told of at once, the server is always asked), reload and reload_all (never); default reload.",
            record: "Whether a kept response is used; absent is reload.",
            profile: "Whether kept responses are used; default reload: never."),
        RequestChoiceField(
            "store", \.storesResponses, task: "Whether the response is kept; default is what cache_policy implies.",
            record: "True when the response is kept.",
            profile: "Whether responses are kept; default is what cache_policy implies."),
    ]

    static let conditions = [
        RequestChoiceField(
            "allow_metered", \.allowsMetered,
            task: "Whether it may go over links that cost money (network.metered_interfaces); if not, it waits for "
                + "another. Default true.",
            record: "Whether it may go over links that cost money.",
            profile: "Whether tasks may go over links that cost money.",
            change: .anytime(
                "Whether it may go over links that cost money; if not, it stops on one and waits for another."))
    ]

    /// The fields that a running task refuses to change.
    static let refusedWhileRunning: [String] = (request + caching + conditions).compactMap { field in
        if case .stopped = field.change { field.name } else { nil }
    }
}

extension [RequestChoiceField] {
    /// For new tasks; null unsets the profile's choice.
    func fields<Record>(
        ofTask choices: any WritableKeyPath<Record, TransferRequest.Choices> & Sendable
    ) -> [WireField<Record>] {
        map { $0.field(in: choices, $0.inTask, $0.limits, isNullable: true, example: $0.example) }
    }

    /// For changes of a task: those that can change.
    func fields<Record>(
        ofChanges choices: any WritableKeyPath<Record, TransferRequest.Choices> & Sendable
    ) -> [WireField<Record>] {
        compactMap { field in
            switch field.change {
            case nil: nil
            case .anytime(let text), .stopped(let text): field.field(in: choices, text, field.limits)
            }
        }
    }

    /// For tasks that are shown.
    func fields<Record>(
        ofRecord choices: any WritableKeyPath<Record, TransferRequest.Choices> & Sendable
    ) -> [WireField<Record>] {
        map { $0.field(in: choices, $0.inRecord) }
    }

    /// For profiles that clients write.
    func fields<Record>(
        ofProfile choices: any WritableKeyPath<Record, TransferRequest.Choices> & Sendable
    ) -> [WireField<Record>] {
        map { $0.field(in: choices, $0.inProfile, $0.limits, example: $0.example) }
    }

    /// For profiles that are shown.
    func fields<Record>(
        ofProfileRecord choices: any WritableKeyPath<Record, TransferRequest.Choices> & Sendable
    ) -> [WireField<Record>] {
        map { $0.field(in: choices, $0.inProfile) }
    }
}

extension RequestChoiceField {
    fileprivate func field<Record>(
        in choices: any WritableKeyPath<Record, TransferRequest.Choices> & Sendable, _ documentation: String,
        _ limits: [WireLimit] = [], isNullable: Bool = false, example: JSONValue? = nil
    ) -> WireField<Record> {
        declaration.field(in: choices, documentation, limits, isNullable: isNullable, example: example)
    }
}

/// A choice whose type only the declaration knows.
private protocol ChoiceDeclaration: Sendable {
    func field<Record>(
        in choices: any WritableKeyPath<Record, TransferRequest.Choices> & Sendable, _ documentation: String,
        _ limits: [WireLimit], isNullable: Bool, example: JSONValue?
    ) -> WireField<Record>
}

private struct TypedChoice<Value: WireValue>: ChoiceDeclaration {
    let name: String
    let choice: any WritableKeyPath<TransferRequest.Choices, Patch<Value>> & Sendable

    func field<Record>(
        in choices: any WritableKeyPath<Record, TransferRequest.Choices> & Sendable, _ documentation: String,
        _ limits: [WireLimit], isNullable: Bool, example: JSONValue?
    ) -> WireField<Record> {
        .patch(
            name, at: FieldPlace(choices, choice), documentation, limits, isNullable: isNullable, example: example)
    }
}
