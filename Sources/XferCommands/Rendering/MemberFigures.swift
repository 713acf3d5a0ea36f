import XferModel
import XferProtocol

/// The bytes of the members of a batch or a group, their rate, and how long they still take at that rate.
struct MemberFigures: Hashable, Sendable {
    private(set) var received: Int64 = 0
    /// The bytes of the members whose length is known.
    private(set) var total: Int64 = 0
    private(set) var unknown = 0
    private(set) var rate: Int64 = 0

    /// The highest number of members for which the figures are shown, since each thousand needs a call.
    static let mostMembers: Int64 = 20_000

    static let fields = TaskColumns(["state", "progress", "batch", "kind", "url"])

    mutating func add(_ record: TaskRecord) {
        let task = TaskSummary(record)
        guard task.state != TaskState.cancelled.rawValue else { return }
        received = received.addingSaturated(max(0, task.received))
        if task.isRunning { rate = rate.addingSaturated(max(0, task.rate)) }
        if let length = task.total {
            total = total.addingSaturated(max(0, length))
        } else if task.state == TaskState.completed.rawValue {
            total = total.addingSaturated(max(0, task.received))
        } else {
            unknown += 1
        }
    }

    /// Names and texts of the lines; none if no byte is known.
    var lines: [(name: String, text: String)] {
        guard received > 0 || total > 0 else { return [] }
        let known = total > 0 ? " of \(ByteText.size(total))" : ""
        let others = unknown > 0 ? ", \(unknown) of unknown length" : ""
        var lines = [("bytes", "\(ByteText.size(received))\(known)\(others)")]
        if rate > 0 {
            let rest = max(0, total.subtractingSaturated(received)) / rate
            // Without the others' lengths it would be too short.
            let left = unknown == 0 ? ", \(DurationText.short(rest)) left" : ""
            lines.append(("rate", ByteText.rate(rate) + left))
        }
        return lines
    }

    /// The figures of a batch's members; nil if there are too many.
    static func read(of batch: BatchRecord, _ daemon: DaemonSession) throws(CommandFailure) -> MemberFigures? {
        guard batch.total <= mostMembers else { return nil }
        var filter = TaskFilter()
        filter.group = OneOrMany([batch.group])
        // Other tasks may have joined the batch's group.
        return try read(filter, daemon) { $0.batch == batch.id }
    }

    /// The figures of a group's tasks; nil if there are too many.
    static func read(of group: GroupRecord, _ daemon: DaemonSession) throws(CommandFailure) -> MemberFigures? {
        let counts = group.counts
        let ended = [counts.completed, counts.failed, counts.cancelled].reduce(Int64(0)) { $0.addingSaturated($1) }
        guard counts.unfinished.addingSaturated(ended) <= mostMembers else { return nil }
        var filter = TaskFilter()
        filter.group = OneOrMany([group.name])
        filter.owner = OneOrMany([group.owner])
        return try read(filter, daemon) { _ in true }
    }

    private static func read(
        _ filter: TaskFilter, _ daemon: DaemonSession, _ isMember: (TaskRecord) -> Bool
    ) throws(CommandFailure) -> MemberFigures {
        var figures = MemberFigures()
        var params = TaskList.Params()
        params.filter = filter
        params.fields = fields
        params.limit = TaskPages.largest
        repeat {
            let page = try daemon.call(TaskList.self, params).value
            for record in page.tasks where isMember(record) { figures.add(record) }
            // A place that does not move ends the list.
            params.cursor = page.nextCursor == params.cursor ? nil : page.nextCursor
        } while params.cursor != nil
        return figures
    }
}
