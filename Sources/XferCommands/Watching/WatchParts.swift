import XferModel
import XferProtocol

/// Bytes of the tasks that run, and of those that completed since the queue was last empty.
struct WatchTotals: Hashable, Sendable {
    private var running = Amount()
    private var completed = Amount()
    /// True if nothing runs. Completed tasks stay on the screen until something runs again.
    private var isOver = true

    private struct Amount: Hashable {
        var done: Int64 = 0
        var total: Int64 = 0
    }

    var done: Int64 { running.done.addingSaturated(completed.done) }
    /// The length of the tasks whose length is known.
    var total: Int64 { running.total.addingSaturated(completed.total) }

    var fraction: Double? { total > 0 ? Double(done) / Double(total) : nil }

    /// Seconds until the running tasks are complete at this rate; nil when that is unknown.
    func timeLeft(rate: Int64) -> Int64? {
        let left = running.total.subtractingSaturated(running.done)
        return rate > 0 && left > 0 ? left / rate : nil
    }

    /// Applies the present running tasks.
    /// - Parameter isIdle: true if nothing runs or may start.
    mutating func update(_ tasks: [WatchTask], isIdle: Bool) {
        if isIdle { isOver = true }
        if isOver, !tasks.isEmpty { (completed, isOver) = (Amount(), false) }
        running = Amount()
        var counted: Set<TransferID> = []
        for task in tasks {
            guard let total = task.summary.total else { continue }
            // Tasks that share a transfer wait for the same bytes.
            if let transfer = task.transfer, !counted.insert(transfer).inserted { continue }
            running.done = running.done.addingSaturated(min(task.summary.received, total))
            running.total = running.total.addingSaturated(total)
        }
    }

    /// Applies an event. A completion is counted before the list removes the task's running state.
    mutating func onEvent(_ event: EventMessage, _ list: WatchList) {
        guard event.type == .known(.durable(.taskCompleted)), let id = event.taskID?.rawValue,
            let size = event.value("size", Int64.self), let task = list.running.first(where: { $0.id == id })
        else { return }
        // Of tasks that share a transfer the last one counts: until then it is among the running ones.
        let isShared = task.transfer != nil && list.running.contains { $0.id != id && $0.transfer == task.transfer }
        guard !isShared else { return }
        completed.done = completed.done.addingSaturated(size)
        completed.total = completed.total.addingSaturated(size)
    }
}

/// The details of the selected task.
struct WatchPane: Hashable, Sendable {
    var id: Int64
    /// The record; nil until it has arrived.
    var record: TaskRecord?
    /// The generation of the list when the details arrived.
    var generation = -1
    /// The first line on the screen.
    var top = 0
}

/// The prompt at the bottom of the screen.
enum WatchPrompt: Hashable, Sendable {
    /// True if to cancel this task.
    case cancel(Int64, name: String)
    /// The rate of one task in bytes per second.
    case limitTask(Int64, isUpload: Bool, TypedLine)
    /// The rate of all tasks in bytes per second.
    case limitAll(TypedLine)
    /// A filter is being typed.
    ///
    /// - Parameter before: the filter that applies again after Escape.
    case filter(TypedLine, before: String)
}

/// The message about the last key.
struct WatchMessage: Hashable, Sendable {
    let text: String
    let isRefusal: Bool

    init(_ text: String, isRefusal: Bool) {
        self.text = text
        self.isRefusal = isRefusal
    }

    init(_ result: SelectionResult, _ deed: WatchVerb, _ id: Int64) {
        guard case .ids(let listed) = result else {
            self.init("\(deed.past): #\(id)", isRefusal: false)
            return
        }
        if let task = listed.unchanged.first {
            let reason = task.reason.map { " (\(WaitText.words($0)))" } ?? ""
            let state = SafeText.sanitised(task.state.description)
            self.init("not \(deed.past): #\(id) is \(state)\(reason)", isRefusal: true)
        } else if listed.missing.isEmpty {
            self.init("\(deed.past): #\(id)", isRefusal: false)
        } else {
            self.init("there is no task \(id)", isRefusal: true)
        }
    }
}

/// The places of the parts of the live view on a screen.
struct WatchLayout: Hashable, Sendable {
    /// The place of the details.
    enum Pane: Hashable, Sendable {
        case beside, below, instead
    }

    /// The number of lines of figures at the top.
    let headRows: Int
    /// True if the list has titles.
    let hasTitles: Bool
    let listRows: Int
    let listColumns: Int
    let pane: Pane?
    let paneRows: Int
    let paneColumns: Int
    /// True if there is a line about the selected task.
    let hasRemark: Bool
    /// True if there is a line for keys and messages.
    let hasFooter: Bool

    init(size: Terminal.Size, hasPane: Bool) {
        let rows = max(1, size.rows)
        headRows = rows >= 12 ? 3 : rows >= 8 ? 2 : rows >= 4 ? 1 : 0
        hasTitles = rows >= 12
        hasRemark = rows >= 10
        hasFooter = rows >= 2
        let body = rows - headRows - [hasTitles, hasRemark, hasFooter].filter(\.self).count
        guard hasPane else {
            (pane, listRows, listColumns, paneRows, paneColumns) = (nil, body, size.columns, 0, 0)
            return
        }
        if size.columns >= 120 {
            pane = .beside
            paneColumns = min(90, size.columns * 2 / 5)
            // Between them a blank, a line and a blank.
            listColumns = size.columns - paneColumns - 3
            (listRows, paneRows) = (body, body + (hasTitles ? 1 : 0))
        } else if body >= 12 {
            pane = .below
            (listColumns, paneColumns) = (size.columns, size.columns)
            listRows = max(4, body * 2 / 5)
            // A line between them.
            paneRows = body - listRows - 1
        } else {
            (pane, listRows, listColumns, paneRows, paneColumns) = (.instead, 0, size.columns, body, size.columns)
        }
    }
}
