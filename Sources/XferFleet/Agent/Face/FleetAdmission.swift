import StrictJSON
import XferCore
import XferDaemon
import XferFiles
import XferModel
import XferProtocol

/// Judges a new task for the fleet: the fields that the database may store, and that any node could execute.
struct FleetAdmission: Sendable {
    /// The longest task that the database keeps, in bytes of JSON. A node passes it to its xferd in a message, whose
    /// limit is 4 MiB by default.
    static let largestTask = 3 << 20

    /// The node that received the call: sent files are stored on it.
    let node: String

    /// The task in the form in which the database stores it.
    ///
    /// - Parameters:
    ///   - place: nil is any node, or this one for a task that sends files.
    ///   - path: the prefix of field names in errors.
    /// - Throws: `RPCFailure` with the field.
    func admit(
        _ task: NewTask, at place: FleetPlace?, batch: FleetBatchID? = nil, for caller: FleetCaller, path: String = ""
    ) throws(RPCFailure) -> FleetNewTask {
        if let field = Self.refusedField(task) {
            throw Self.refusal(path + field.name, field.reason, expected: field.expected)
        }
        if let priority = task.priority, priority > caller.maxPriority {
            throw RPCFailure(
                .permissionDenied, "\(path)priority: the caller may set at most \(caller.maxPriority)",
                data: ErrorData(reason: "permission_denied", path: path + "priority"))
        }
        if !caller.isOperator, let field = NewTask.wireFields.first(in: task, where: Self.fieldsOfOperators.contains) {
            throw RPCFailure(
                .permissionDenied, "\(path)\(field.name): only operators may set it",
                data: ErrorData(reason: "permission_denied", path: path + field.name))
        }
        var owner = caller.name
        if let named = task.owner {
            owner = named
        }
        let pinned = Self.sendsFile(task) ? FleetPlace.node(node) : nil
        if let pinned, let place, place != pinned {
            throw Self.refusal(
                path + "place", "the files to send are on node \(node)", expected: pinned.description)
        }
        if case .storage = place { try Self.requireFitForStorage(task, path) }
        if caller.isConfined { try Self.requireConfined(task, at: place, path) }
        let specification = Self.specification(task)
        guard specification.utf8.count <= Self.largestTask else {
            let what = path.hasSuffix(".") ? "\(path.dropLast()): the" : "the"
            throw RPCFailure(
                .limitExceeded,
                "\(what) task has \(specification.utf8.count) bytes of JSON, a fleet takes at most \(Self.largestTask): shorten its content, or send it from a file",
                data: ErrorData(reason: "limit_exceeded", limit: Int64(clamping: Self.largestTask)))
        }
        return FleetNewTask(
            owner: owner, clientKey: task.clientKey,
            fingerprint: try Self.digest("\(place?.description ?? "") \(task.canonicalText)"),
            priority: task.priority ?? .normal, group: task.group, host: try Self.host(of: task, path),
            place: place ?? pinned ?? .any, notBefore: task.schedule.notBefore.applied(to: nil),
            isRepeatable: Self.isRepeatable(task), startsPaused: task.paused ?? false, batch: batch, label: task.label,
            spec: specification, summary: Self.summary(of: task))
    }

    /// The description of the task in `task.added`.
    private static func summary(of task: NewTask) -> String {
        let payload = EventPayload.taskAdded(
            url: Redaction.url(task.url ?? task.urls?.first ?? ""), label: task.label, group: task.group)
        let event = Event(seq: 0, time: Timestamp(microseconds: 0), taskID: nil, owner: nil, payload: payload)
        return JSONValue.object(EventMessage(event).body).text
    }

    /// Checks a task for shared storage: only downloads are allowed there, and `dir` is a path beneath the storage.
    private static func requireFitForStorage(_ task: NewTask, _ path: String) throws(RPCFailure) {
        if let kind = task.kind, kind != .download {
            throw refusal(path + "kind", "only downloads go to shared storage", expected: "download")
        }
        if task.dir?.split(separator: "/").contains("..") == true {
            throw refusal(
                path + "dir", "it leads out of the storage", expected: "a path beneath the storage without ..")
        }
        if task.output?.contains("/") == true {
            throw refusal(path + "output", "the directory on shared storage is dir", expected: "a name without /")
        }
    }

    /// Refuses fields that a token without the scope `operate` may not set: a directory of a node, a hidden name, and a
    /// policy that replaces files. The nodes do not know the files that such tokens published elsewhere.
    private static func requireConfined(
        _ task: NewTask, at place: FleetPlace?, _ path: String
    ) throws(RPCFailure) {
        guard task.kind ?? .download == .download else { return }
        func denied(_ field: String, _ reason: String) -> RPCFailure {
            RPCFailure(
                .permissionDenied, "\(path)\(field): \(reason), which needs a token with the scope operate",
                data: ErrorData(reason: "scope", path: path + field))
        }
        if let directory = task.dir {
            guard case .storage = place else { throw denied("dir", "it is a directory on a node") }
            let names = directory.utf8.split(separator: UInt8(ascii: "/")).map { String(decoding: $0, as: UTF8.self) }
            if names.contains(where: HiddenComponents.isHidden) {
                throw denied("dir", "a component begins with a dot")
            }
        }
        if let output = task.output {
            if output.utf8.contains(UInt8(ascii: "/")) { throw denied("output", "it is a directory on a node") }
            if HiddenComponents.isHidden(output) { throw denied("output", "it begins with a dot") }
        }
        if task.destination.onConflict.applied(to: nil)?.replaces == true {
            throw denied("on_conflict", "the task could replace a file")
        }
    }

    // MARK: Fields

    /// The fields that an xferd accepts only from operators, by their declarations.
    private static let fieldsOfOperators = Set(NewTask.wireFields.filter { $0.access == .operators }.map(\.name))

    private struct Refused {
        let name: String
        let reason: String
        let expected: String
    }

    /// The field that a fleet does not support, if there is one: secrets would be stored in the database, and names may
    /// have another meaning on other nodes.
    private static func refusedField(_ task: NewTask) -> Refused? {
        let fields = task.wire.objectValue ?? JSONObject()
        for (names, reason) in unsupported {
            if let name = names.first(where: { fields[$0] != nil && fields[$0] != .null }) {
                return Refused(name: name, reason: reason, expected: "no \(name)")
            }
        }
        if fields["finalize"]?.stringValue == "manual" {
            return Refused(name: "finalize", reason: "staging is not supported in a fleet", expected: "finalize auto")
        }
        if let secret = task.headers?.set.fields.first(where: { Redaction.isSecretHeader($0.name) }) {
            return Refused(
                name: "headers.\(secret.name)", reason: "a fleet keeps no secrets", expected: "no secret header fields")
        }
        let urls = task.urls ?? task.url.map { [$0] } ?? []
        if let index = urls.firstIndex(where: { hasUserInfo($0) }) {
            return Refused(
                name: task.urls == nil ? "url" : "urls[\(index)]", reason: "a fleet keeps no secrets",
                expected: "a URL without user name and password")
        }
        return nil
    }

    private static let unsupported: [(names: [String], reason: String)] = [
        (["credential", "client_cert", "cookie_list", "proxy"], "a fleet keeps no secrets"),
        (["cookies", "ca_file", "unix_socket"], "the name may have another meaning on other nodes"),
        (["post_process", "on_complete", "on_error", "on_end"], "hooks and webhooks are not supported in a fleet"),
        (["slot"], "slots are not supported in a fleet"),
        (["after", "after_batch", "after_group"], "dependencies are not supported in a fleet"),
        (["lease"], "the fleet sets the lease itself"),
    ]

    private static func refusal(_ path: String, _ reason: String, expected: String) -> RPCFailure {
        RPCFailure(
            .invalidParams, "\(path): \(reason), expected \(expected)",
            data: ErrorData(reason: "not_in_fleet", path: path, expected: expected))
    }

    /// The text for the node's `task.add`, without the fields that the database has in columns of their own.
    private static func specification(_ task: NewTask) -> String {
        guard var fields = task.wire.objectValue else { return "{}" }
        for name in ["owner", "client_key", "priority", "paused", "not_before", "group"] { fields[name] = nil }
        return JSONValue.object(fields).text
    }

    private static func sendsFile(_ task: NewTask) -> Bool {
        task.source != nil || task.body?.file != nil || task.parts?.contains { $0.file != nil } == true
    }

    /// True if the task may be repeated, with the rules of `RepetitionRules`, but before there is a request.
    private static func isRepeatable(_ task: NewTask) -> Bool {
        let sends = task.body != nil || task.parts != nil
        let method = task.method ?? (task.kind == .upload && !sends ? .put : sends ? .post : .get)
        if method.isIdempotent || task.limits.retriesNonIdempotent.applied(to: nil) == true { return true }
        if task.kind == .upload, task.upload ?? .plain != .plain { return true }
        return task.headers?.set.fields.contains {
            $0.name.equalsIgnoringASCIICase("Idempotency-Key") && !$0.value.isEmpty
        }
            == true
    }

    // MARK: URLs

    /// The first URL's host, with its port unless that is the scheme's.
    private static func host(of task: NewTask, _ path: String) throws(RPCFailure) -> String {
        let text = task.firstURL
        let field = path + (task.urls == nil ? "url" : "urls[0]")
        guard let begin = text.firstRange(of: "://")?.upperBound,
            let origin = Origin(String(text[..<begin]) + text[begin...].prefix { !"/?#".contains($0) })
        else {
            throw refusal(field, "it contains no server", expected: "an absolute http or https URL with an ASCII host")
        }
        return HTTPURL(scheme: origin.scheme, host: origin.host, port: origin.port, target: "/").hostKey
    }

    private static func hasUserInfo(_ text: String) -> Bool {
        guard let begin = text.firstRange(of: "://")?.upperBound else { return false }
        return text[begin...].prefix { !"/?#".contains($0) }.contains("@")
    }

    /// A digest that two requests share only if they are equal.
    static func digest(_ text: String) throws(RPCFailure) -> String {
        do {
            var context = try DigestContext(.sha256)
            Array(text.utf8).withUnsafeBytes { context.update($0) }
            return try context.finish().description
        } catch {
            throw RPCFailure(.internalError, "\(error)")
        }
    }
}

/// A caller in the fleet: users have names there, since a uid means another user on another machine.
struct FleetCaller: Sendable {
    let name: String
    let isOperator: Bool
    let maxPriority: Priority
    /// The highest number of its unfinished tasks in the fleet; nil is any number.
    let maxTasks: Int?
    /// True if it calls over the network without the scope `operate`.
    let isConfined: Bool

    init(_ caller: Caller) {
        name = AccountDirectory.name(of: caller.peer.uid) ?? String(caller.peer.uid)
        isOperator = caller.isOperator
        maxPriority = caller.maxPriority
        maxTasks = caller.maxTasks
        isConfined = caller.confinement != nil
    }

    /// The only owner whose tasks the caller sees; nil sees all.
    var visibleOwner: String? { isOperator ? nil : name }

    var wisher: WishRules.Caller { isOperator ? .operators : .owner(name) }
}
