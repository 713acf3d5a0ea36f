import ArgumentParser
import StrictJSON
import XferModel
import XferProtocol

/// A column of `xferctl list`.
enum TaskColumn: String, CaseIterable, Sendable, ExpressibleByArgument {
    case id, state, done, size, rate, eta, priority, owner, group, label, host, name, path, note, url, added, ended

    var title: String { rawValue.uppercased() }

    /// The column's contents, for completions.
    var meaning: String {
        switch self {
        case .id: "the task's id"
        case .state: "its state"
        case .done: "the percentage that has been transferred"
        case .size: "its size"
        case .rate: "its present rate"
        case .eta: "the remaining time"
        case .priority: "its priority"
        case .owner: "its user's uid"
        case .group: "its group"
        case .label: "its label"
        case .host: "the server's name"
        case .name: "the file's name"
        case .path: "the published file, or the place for it once its name is known"
        case .note: "the reason why it waits or failed"
        case .url: "requested text"
        case .added: "the time at which it was added"
        case .ended: "the time at which its last run ended"
        }
    }

    /// Fields of a task that the column needs beyond those of a summary.
    fileprivate var fields: [String] {
        switch self {
        case .priority, .owner, .group: [rawValue]
        case .added: ["created_at"]
        case .ended: ["finished_at"]
        case .path: ["dir"]
        default: []
        }
    }

    /// The column that shows a field of the wire; nil if none does.
    init?(fieldName: String) {
        switch fieldName {
        case "created_at": self = .added
        case "finished_at": self = .ended
        case "wait", "error", "warning", "phase": self = .note
        case "output": self = .name
        case "final_path": self = .path
        case "progress": self = .done
        default: return nil
        }
    }

    fileprivate var tableColumn: Table.Column {
        switch self {
        case .id, .done, .size, .rate, .eta, .owner: Table.Column(title: title, alignment: .right)
        case .state, .priority, .added, .ended: Table.Column(title: title)
        case .note: Table.Column(title: title, isFlexible: true, cut: .end)
        case .group, .label, .host, .name, .path, .url: Table.Column(title: title, isFlexible: true)
        }
    }
}

/// Tasks as tables.
enum TaskTable {
    /// The columns that a person needs of many tasks; the label only if a task has one.
    static let overviewColumns: [TaskColumn] = [.id, .state, .done, .size, .rate, .label, .name, .note]

    /// Fields that these columns need.
    static func fields(of columns: [TaskColumn]) -> TaskColumns {
        TaskColumns((TaskSummary.columns?.names ?? []) + columns.flatMap(\.fields)) ?? .listing
    }

    static func overview(_ records: [TaskRecord], now: Timestamp) -> Table {
        let hasLabels = records.contains { $0.label != nil }
        return table(records, overviewColumns.filter { $0 != .label || hasLabels }, now: now)
    }

    static func table(_ records: [TaskRecord], _ columns: [TaskColumn], now: Timestamp) -> Table {
        var table = Table(columns: columns.map(\.tableColumn))
        table.rows = records.map { record in
            let task = TaskSummary(record)
            return columns.map { cell($0, record, task, now) }
        }
        return table
    }

    private static func cell(
        _ column: TaskColumn, _ record: TaskRecord, _ task: TaskSummary, _ now: Timestamp
    ) -> Table.Cell {
        switch column {
        case .id: Table.Cell("\(task.id)")
        case .state: Table.Cell(task.state, StateStyle.attribute(task.state))
        case .done: Table.Cell(Bar.percent(task.received, of: task.total))
        case .size: Table.Cell(size(task).map { ByteText.size($0) } ?? "")
        case .rate: Table.Cell(task.isRunning ? ByteText.rate(task.rate) : "")
        case .eta: Table.Cell(task.eta.map { DurationText.short($0) } ?? "")
        case .priority: Table.Cell(record.priority?.description ?? "")
        case .owner: Table.Cell(record.owner?.description ?? "")
        case .group: Table.Cell(record.group ?? "")
        case .label: Table.Cell(record.label ?? "")
        case .host: Table.Cell(host(record))
        case .name: Table.Cell(task.fileName)
        case .path: Table.Cell(task.finalPath ?? place(record) ?? "")
        case .note: Table.Cell(remark(task, now))
        case .url: Table.Cell(record.url ?? "")
        case .added: Table.Cell(record.createdAt.map { TimeText.clock($0, now: now) } ?? "")
        case .ended: Table.Cell(record.finishedAt.map { TimeText.clock($0, now: now) } ?? "")
        }
    }

    /// Sorts records in ascending order of a column, oldest first where it is the same. Tasks without a value come
    /// last in both directions.
    ///
    /// - Parameter isReversed: true for the descending order, newest first where it is the same.
    static func sorted(_ records: [TaskRecord], by column: TaskColumn, isReversed: Bool = false) -> [TaskRecord] {
        let now = Timestamp.now
        let keyed = records.map { record in (key: key(of: record, column, now), record: record) }
        return keyed.sorted { left, right in
            switch (left.key, right.key) {
            case (let a?, let b?) where a != b: isReversed ? b < a : a < b
            case (nil, _?): false
            case (_?, nil): true
            default: (left.record.id.rawValue < right.record.id.rawValue) != isReversed
            }
        }.map(\.record)
    }

    /// The key for sorting: numbers by their value, texts by their letters. Nil if the field is empty.
    private static func key(of record: TaskRecord, _ column: TaskColumn, _ now: Timestamp) -> SortKey? {
        let task = TaskSummary(record)
        let number: Double? =
            switch column {
            case .id: Double(task.id)
            case .done: task.fraction
            case .size: size(task).map { Double($0) }
            case .rate: task.isRunning ? Double(task.rate) : nil
            case .eta: task.eta.map { Double($0) }
            case .priority: record.priority?.value.flatMap { Priority.allCases.firstIndex(of: $0) }.map { Double($0) }
            case .owner: record.owner.map { Double($0.rawValue) }
            case .added: record.createdAt.map { Double($0.rawValue) }
            case .ended: record.finishedAt.map { Double($0.rawValue) }
            case .state, .group, .label, .host, .name, .path, .note, .url: nil
            }
        if let number { return SortKey(number: number) }
        switch column {
        case .state, .group, .label, .host, .name, .path, .note, .url:
            let text = cell(column, record, task, now).text
            return text.isEmpty ? nil : SortKey(text: text)
        default: return nil
        }
    }

    private struct SortKey: Comparable {
        var number = 0.0
        var text = ""

        static func < (left: SortKey, right: SortKey) -> Bool { (left.number, left.text) < (right.number, right.text) }
    }

    /// The requested fields in the order of the request, with their wire names; strings without quotes, times in the
    /// reader's zone. A field that no task has is an empty column, so that scripts find each at its place.
    static func table(_ records: [TaskRecord], _ fields: TaskColumns) -> Table {
        let rows = records.map { $0.wire.objectValue ?? JSONObject() }
        let names = fields.names
        var table = Table(columns: names.map { Table.Column(title: $0.uppercased()) })
        table.rows = rows.map { row in
            names.map { name in Table.Cell(row[name].map { TimeText.readable($0.stringValue ?? $0.text) } ?? "") }
        }
        return table
    }

    /// The path that an unpublished file will get if the name is free; nil while only the server knows the name.
    private static func place(_ record: TaskRecord) -> String? {
        guard let directory = record.dir, let name = record.output else { return nil }
        return directory.hasSuffix("/") ? directory + name : "\(directory)/\(name)"
    }

    private static func size(_ task: TaskSummary) -> Int64? { task.total ?? (task.received > 0 ? task.received : nil) }

    private static func host(_ record: TaskRecord) -> String {
        guard let url = record.url, let scheme = url.firstRange(of: "://") else { return "" }
        return String(url[scheme.upperBound...].prefix { !"/?#".contains($0) })
    }

    private static func remark(_ task: TaskSummary, _ now: Timestamp) -> String {
        if !task.isTerminal, let sentence = WaitText.sentence(task, now: now) { return sentence }
        if task.state == TaskState.failed.rawValue, let failure = task.failure { return FailureText.cause(failure) }
        if task.isRunning, let phase = task.phase, phase != TaskPhase.transferring.rawValue { return phase }
        if task.isStaged { return "waits for `xferctl commit \(task.id)`" }
        if let warning = task.warning { return "warning: \(warning)" }
        return task.isSkipped ? "skipped" : task.isNotModified ? "not modified" : ""
    }
}
