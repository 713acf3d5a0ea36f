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
    public var clientKey: OneOrMany<String>?
    public var reason: OneOrMany<FailureReason>?
    public var urlPrefix: String?
    public var createdFrom: Timestamp?
    public var createdBefore: Timestamp?
    public var finishedFrom: Timestamp?
    public var finishedBefore: Timestamp?
    public var all: Bool?

    public init() {}

    /// The filter for all tasks that the caller may touch.
    public static var everything: TaskFilter {
        var filter = TaskFilter()
        filter.all = true
        return filter
    }

    public static let summary =
        "Filter for tasks: all fields must match, each by one of its values; {\"all\": true} selects all tasks."

    public static let wireFields: WireFields<Self> = [
        .optional("state", \.state, "States.", .count(1...1000)),
        .optional("kind", \.kind, "Kinds.", .count(1...1000)),
        .optional("group", \.group, "Groups.", .count(1...1000)),
        .optional("batch", \.batch, "Batches.", .count(1...1000)),
        .optional("label", \.label, "Labels.", .count(1...1000)),
        .optional("slot", \.slot, "Slots to which the tasks were added.", .count(1...1000)),
        .optional("owner", \.owner, "Owners' uids; only operators see others' tasks.", .count(1...1000))
            .restricted(to: .ownUID),
        .optional(
            "host", \.host, "Hosts of the URLs, at any port, or at one: example.org, example.org:8080, [::1]:8080.",
            .count(1...1000)),
        .optional("ids", \.ids, "Ids.", .count(1...TaskLimits.batchSize)),
        .optional("client_key", \.clientKey, "Client keys with which the tasks were added.", .count(1...1000)),
        .optional("reason", \.reason, "Reasons of the last failures, as in error.reason.", .count(1...1000)),
        .optional(
            "url_prefix", \.urlPrefix,
            "Beginning of the URLs, without the query: it may contain secrets and cannot be searched.",
            .length(1...2048),
            .form("^[^?#]*$", expected: "a text without ? and #") { !$0.contains { "?#".contains($0) } }),
        .optional("created_from", \.createdFrom, "Added at this time or later."),
        .optional("created_before", \.createdBefore, "Added before this time."),
        .optional("finished_from", \.finishedFrom, "Last run ended at this time or later."),
        .optional("finished_before", \.finishedBefore, "Last run ended before this time."),
        .optional("all", \.all, "True to select every task the caller may access; then no other field is allowed."),
    ]

    private var hasCondition: Bool {
        state != nil || kind != nil || group != nil || label != nil || slot != nil || owner != nil || host != nil
            || ids != nil || batch != nil || hasLaterCondition
    }

    /// True if it has a condition that a fleet does not know.
    public var hasLaterCondition: Bool {
        clientKey != nil || reason != nil || urlPrefix != nil || createdFrom != nil || createdBefore != nil
            || finishedFrom != nil || finishedBefore != nil
    }

    public func validate() throws(WireError) {
        switch (all, hasCondition) {
        case (true?, false), (nil, true): return
        case (true?, true): throw WireError(.conflictingFields, at: "all", expected: "no other field with all")
        case (false?, _): throw WireError(.invalidValue, at: "all", expected: "true, or no field all")
        case (nil, false):
            throw WireError(.missing, expected: "a condition, or {\"all\": true} for every task")
        }
    }
}
