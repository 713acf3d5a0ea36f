import XferModel
import XferProtocol

/// The bytes of the members of a batch or a group, their rate, and how long they still take at that rate.
struct MemberFigures: Hashable, Sendable {
    private(set) var received: Int64 = 0
    /// The bytes of the members whose length is known.
    private(set) var total: Int64 = 0
    private(set) var unknown = 0
    private(set) var rate: Int64 = 0
    /// The number of files that were right or current already. Their bytes are not counted.
    private(set) var existing = 0

    /// The highest number of members for which the figures are shown, since each thousand needs a call.
    static let mostMembers: Int64 = 20_000

    static let fields = TaskColumns(["state", "progress", "batch", "kind", "url", "skipped", "not_modified"])

    mutating func add(_ record: TaskRecord) {
        let task = TaskSummary(record)
        guard task.state != TaskState.cancelled.rawValue else { return }
        guard !task.isSkipped, !task.isNotModified else {
            existing += 1
            return
        }
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

    /// Names and texts of the lines; none about bytes if none is known.
    var lines: [(name: String, text: String)] {
        let kept = existing > 0 ? [("kept", "\(existing) existed already")] : []
        guard received > 0 || total > 0 else { return kept }
        let known = total > 0 ? " of \(ByteText.size(total))" : ""
        let others = unknown > 0 ? ", \(unknown) of unknown length" : ""
        var lines = [("bytes", "\(ByteText.size(received))\(known)\(others)")]
        if rate > 0 {
            let left = secondsLeft.map { ", \(DurationText.short($0)) left" } ?? ""
            lines.append(("rate", ByteText.rate(rate) + left))
        }
        return lines + kept
    }

    /// The columns of a listing.
    static let columns = [
        Table.Column(title: "BYTES", alignment: .right), Table.Column(title: "RATE", alignment: .right),
        Table.Column(title: "LEFT", alignment: .right),
    ]

    /// The cells of a listing; without figures, or without a known byte, they are "-".
    static func cells(_ figures: MemberFigures?) -> [Table.Cell] {
        guard let figures, figures.received > 0 || figures.total > 0 else {
            return columns.map { _ in Table.Cell("-") }
        }
        let size = figures.size + (figures.unknown > 0 ? " + ?" : "")
        let left = figures.secondsLeft.map { DurationText.short($0) } ?? "-"
        return [Table.Cell(size), Table.Cell(figures.rate > 0 ? ByteText.rate(figures.rate) : "-"), Table.Cell(left)]
    }

    /// The received bytes, and those of all members whose length is known.
    private var size: String {
        guard total > 0 else { return ByteText.size(received) }
        // Of what has ended both are equal.
        return total == received ? ByteText.size(total) : "\(ByteText.size(received)) of \(ByteText.size(total))"
    }

    /// The time left at the present rate; nil if it is unknown: without the others' lengths it would be too short.
    private var secondsLeft: Int64? {
        rate > 0 && unknown == 0 ? max(0, total.subtractingSaturated(received)) / rate : nil
    }

    /// The figures of each entry of a listing, in order. Entries from the one on that would exceed `mostMembers` members
    /// together have none, so that a listing does not read a million tasks.
    static func each<Entry>(
        of entries: [Entry], members: (Entry) -> Int64, read: (Entry) throws(CommandFailure) -> MemberFigures?
    ) throws(CommandFailure) -> [MemberFigures?] {
        var allowed = mostMembers
        var all: [MemberFigures?] = []
        for entry in entries {
            let count = max(0, members(entry))
            allowed = allowed.subtractingSaturated(count)
            // An entry without members needs no call.
            try all.append(allowed >= 0 && count > 0 ? read(entry) : nil)
        }
        return all
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
        guard members(of: group) <= mostMembers else { return nil }
        var filter = TaskFilter()
        filter.group = OneOrMany([group.name])
        filter.owner = OneOrMany([group.owner])
        return try read(filter, daemon) { _ in true }
    }

    /// The number of a group's tasks.
    static func members(of group: GroupRecord) -> Int64 {
        let counts = group.counts
        return [counts.unfinished, counts.completed, counts.failed, counts.cancelled].reduce(0) {
            $0.addingSaturated(max(0, $1))
        }
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
