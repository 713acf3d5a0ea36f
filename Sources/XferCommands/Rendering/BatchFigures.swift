import XferModel
import XferProtocol

/// The bytes of a batch's members, its rate, and how long it still takes at that rate.
struct BatchFigures: Hashable, Sendable {
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
    static func read(_ batch: BatchRecord, _ daemon: DaemonSession) throws -> BatchFigures? {
        guard batch.total <= mostMembers else { return nil }
        var figures = BatchFigures()
        var params = TaskList.Params()
        params.filter = TaskFilter()
        params.filter?.group = OneOrMany([batch.group])
        params.fields = fields
        let records = try PageOptions.all(largest: TaskPages.largest) { limit, cursor throws(CommandFailure) in
            params.limit = limit
            params.cursor = cursor
            let page = try daemon.call(TaskList.self, params)
            return PageOptions.Page(raw: page.raw, entries: page.value.tasks, next: page.value.nextCursor)
        }
        // Other tasks may have joined the batch's group.
        for record in records where record.batch == batch.id { figures.add(record) }
        return figures
    }
}
