public import XferModel

/// Selects tasks: fields are ANDed, the values of one field ORed. `{}` is refused, so that no client selects everything
/// by accident; `{"all": true}` is everything the caller may touch.
public struct TaskFilter: WireInput, Hashable {
    public var state: OneOrMany<TaskState>?
    public var kind: OneOrMany<TaskKind>?
    public var group: OneOrMany<String>?
    public var batch: OneOrMany<BatchID>?
    public var label: OneOrMany<String>?
    public var slot: OneOrMany<String>?
    public var owner: OneOrMany<Owner>?
    public var host: OneOrMany<String>?
    public var ids: OneOrMany<TaskID>?
    public var all: Bool?

    public init() {}

    /// Everything the caller may touch.
    public static var everything: TaskFilter {
        var filter = TaskFilter()
        filter.all = true
        return filter
    }

    public static let summary =
        "Which tasks are meant: fields are ANDed, the values of one field ORed; {\"all\": true} is all."

    public static let wireFields: WireFields<Self> = [
        .optional("state", \.state, "States.", .count(1...1000)),
        .optional("kind", \.kind, "Kinds.", .count(1...1000)),
        .optional("group", \.group, "Groups.", .count(1...1000)),
        .optional("batch", \.batch, "Batches.", .count(1...1000)),
        .optional("label", \.label, "Labels.", .count(1...1000)),
        .optional("slot", \.slot, "Slots they were added to.", .count(1...1000)),
        .optional("owner", \.owner, "Owners' uids; only operators see others' tasks.", .count(1...1000))
            .restricted(to: .ownUID),
        .optional("host", \.host, "Hosts of the URLs; with :port where it is not the scheme's.", .count(1...1000)),
        .optional("ids", \.ids, "Ids.", .count(1...TaskLimits.batchSize)),
        .optional("all", \.all, "True: everything the caller may touch; then no other field."),
    ]

    private var hasCondition: Bool {
        state != nil || kind != nil || group != nil || label != nil || slot != nil || owner != nil || host != nil
            || ids != nil || batch != nil
    }

    public func validate() throws(WireError) {
        switch (all, hasCondition) {
        case (true?, false), (nil, true): return
        case (true?, true): throw WireError(.conflictingFields, at: "all", expected: "no other field beside all")
        case (false?, _): throw WireError(.invalidValue, at: "all", expected: "true, or the field left out")
        case (nil, false):
            throw WireError(.missing, expected: "a condition, or {\"all\": true} for every task")
        }
    }
}
