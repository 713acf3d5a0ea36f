import StrictJSON
import XferModel

/// A chosen field on the wire, declared once for new tasks, changes, shown tasks and profiles.
struct ChoiceField<Choices: Sendable>: Sendable {
    /// The conditions under which `task.update` changes the field; null unsets a nullable one.
    enum Change: Sendable {
        case anytime(String, isNullable: Bool = false)
        /// The field can be changed, but not while the task runs.
        case stopped(String, isNullable: Bool = false)
    }

    let name: String
    /// The field's text for a new task; it states the default.
    let inTask: String
    /// The field's text for a task that is shown.
    let inRecord: String
    /// The field's text for a profile; nil when profiles do not have the field.
    let inProfile: String?
    /// The conditions for changing the field; nil when it cannot change.
    let change: Change?
    /// True if null is allowed in a new task: it unsets the profile's choice.
    fileprivate let isNullable: Bool
    /// The values that guests may set in a task; nil means all.
    fileprivate let access: FieldAccess?
    /// True if only downloads have the field.
    let isOfDownloads: Bool
    private let limits: [WireLimit]
    private let example: JSONValue?
    /// The code of the field in a record whose choices begin at the offset.
    private let code: @Sendable (_ offset: Int, _ limits: [WireLimit], _ isNullable: Bool) -> FieldCode

    @inline(never)
    init<Value: WireValue>(
        _ name: String, _ choice: any WritableKeyPath<Choices, Patch<Value>> & Sendable, task: String, record: String,
        profile: String? = nil, isNullable: Bool? = nil, change: Change? = nil, access: FieldAccess? = nil,
        isOfDownloads: Bool = false, limits: [WireLimit] = [], example: JSONValue? = nil
    ) {
        self.name = name
        self.isNullable = isNullable ?? (profile != nil)
        (self.access, self.isOfDownloads) = (access, isOfDownloads)
        (inTask, inRecord, inProfile, self.change) = (task, record, profile, change)
        (self.limits, self.example) = (limits, example)
        guard let place = MemoryLayout<Choices>.offset(of: choice) else {
            preconditionFailure("\(name) is not stored in \(Choices.self)")
        }
        code = { offset, limits, isNullable in
            .patch(Value.self, at: offset + place, FieldLabel(name), limits, isNullable: isNullable)
        }
    }

    /// A field for a client to write.
    fileprivate func input<Record>(
        in choices: any WritableKeyPath<Record, Choices> & Sendable, _ documentation: String, isNullable: Bool = false,
        showsExample: Bool = true
    ) -> WireField<Record> {
        WireField(
            name, documentation, isRequired: false, example: showsExample ? example : nil,
            code(WireField.offset(of: choices), limits, isNullable))
    }

    /// A field that is shown.
    fileprivate func output<Record>(
        in choices: any WritableKeyPath<Record, Choices> & Sendable, _ documentation: String
    ) -> WireField<Record> {
        WireField(
            name, documentation, isRequired: false, example: nil, code(WireField.offset(of: choices), [], false))
    }
}

extension Array {
    /// The fields for new tasks.
    func fields<Record, Choices>(
        ofTask choices: any WritableKeyPath<Record, Choices> & Sendable
    ) -> [WireField<Record>] where Element == ChoiceField<Choices> {
        map { field in
            let input = field.input(in: choices, field.inTask, isNullable: field.isNullable)
            return field.access.map { input.restricted(to: $0) } ?? input
        }
    }

    /// The names of the fields that only downloads have.
    func namesOfDownloads<Choices>() -> [String] where Element == ChoiceField<Choices> {
        filter(\.isOfDownloads).map(\.name)
    }

    /// The fields for changes of a task: those that can change.
    func fields<Record, Choices>(
        ofChanges choices: any WritableKeyPath<Record, Choices> & Sendable
    ) -> [WireField<Record>] where Element == ChoiceField<Choices> {
        compactMap { field in
            switch field.change {
            case nil: return nil
            case .anytime(let text, let isNullable), .stopped(let text, let isNullable):
                let input = field.input(in: choices, text, isNullable: isNullable, showsExample: false)
                return field.access.map { input.restricted(to: $0) } ?? input
            }
        }
    }

    /// The names of the fields that a running task refuses to change.
    func namesRefusedWhileRunning<Choices>() -> [String] where Element == ChoiceField<Choices> {
        compactMap { field in
            if case .stopped = field.change { field.name } else { nil }
        }
    }

    /// The fields for tasks that are shown.
    func fields<Record, Choices>(
        ofRecord choices: any WritableKeyPath<Record, Choices> & Sendable
    ) -> [WireField<Record>] where Element == ChoiceField<Choices> {
        map { $0.output(in: choices, $0.inRecord) }
    }

    /// The fields for profiles that clients write.
    func fields<Record, Choices>(
        ofProfile choices: any WritableKeyPath<Record, Choices> & Sendable
    ) -> [WireField<Record>] where Element == ChoiceField<Choices> {
        compactMap { field in field.inProfile.map { field.input(in: choices, $0) } }
    }

    /// The fields for profiles that are shown.
    func fields<Record, Choices>(
        ofProfileRecord choices: any WritableKeyPath<Record, Choices> & Sendable
    ) -> [WireField<Record>] where Element == ChoiceField<Choices> {
        compactMap { field in field.inProfile.map { field.output(in: choices, $0) } }
    }
}
