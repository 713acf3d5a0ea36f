import StrictJSON
import XferModel
import XferProtocol

/// Makes tables of tasks.
enum TaskTable {
    /// The standard table of `xferctl list`: state, progress, size, rate, name and a note.
    static func overview(_ records: [TaskRecord], now: Timestamp) -> Table {
        var table = Table(columns: [
            .init(title: "ID", alignment: .right), .init(title: "STATE"), .init(title: "DONE", alignment: .right),
            .init(title: "SIZE", alignment: .right), .init(title: "RATE", alignment: .right),
            .init(title: "NAME", isFlexible: true), .init(title: "NOTE", isFlexible: true),
        ])
        table.rows = records.map { record in
            let task = TaskSummary(record)
            let size = task.total ?? (task.received > 0 ? task.received : nil)
            return [
                Table.Cell("\(task.id)"), Table.Cell(task.state, StateStyle.attribute(task.state)),
                Table.Cell(Bar.percent(task.received, of: task.total)), Table.Cell(size.map(ByteText.size) ?? ""),
                Table.Cell(task.isRunning ? ByteText.rate(task.rate) : ""), Table.Cell(task.name),
                Table.Cell(remark(task, now)),
            ]
        }
        return table
    }

    /// A table with one column for each field that a record has. Values are JSON text, but strings have no quotes.
    static func fields(_ records: [TaskRecord]) -> Table {
        let rows = records.map { $0.wire.objectValue ?? JSONObject() }
        var names: [String] = []
        for field in TaskRecord.wireFields where rows.contains(where: { $0[field.name] != nil }) {
            names.append(field.name)
        }
        var table = Table(columns: names.map { Table.Column(title: $0.uppercased()) })
        table.rows = rows.map { row in
            names.map { name in Table.Cell(row[name].map { $0.stringValue ?? $0.text } ?? "") }
        }
        return table
    }

    private static func remark(_ task: TaskSummary, _ now: Timestamp) -> String {
        if !task.isTerminal, let reason = task.waitReason {
            return WaitText.sentence(reason: reason, until: task.waitUntil, failure: task.failure, now: now)
        }
        if task.state == TaskState.failed.rawValue, let failure = task.failure { return WaitText.cause(failure) }
        if task.isRunning, let phase = task.phase, phase != TaskPhase.transferring.rawValue { return phase }
        if task.isStaged { return "waits for `xferctl commit \(task.id)`" }
        return task.isSkipped ? "skipped" : task.isNotModified ? "not modified" : ""
    }
}
