import Glibc
import StrictJSON
import XferModel
import XferProtocol

/// Waits until a background operation has ended, and shows its progress; continues across restarts of the daemon.
struct OperationWaiter {
    private let id: OperationID
    private var session: LiveSession
    private let terminal = Terminal.error
    private var region = LiveRegion(.error)

    private init(_ id: OperationID, _ options: some DaemonOptions) throws(CommandFailure) {
        self.id = id
        session = try LiveSession(
            options.connection, signals: SignalPipe(catching: SignalPipe.displaySignals), isDaemonKnown: true)
    }

    /// Calls a verb. If the filter selects many tasks, the daemon makes it an operation, and this method waits for its
    /// end.
    static func result<Method: RPCMethod>(
        of method: Method.Type, _ selection: TaskSelection, _ daemon: DaemonSession, _ options: some DaemonOptions,
        params: (TaskSelection) -> Method.Params
    ) throws(CommandFailure) -> DaemonSession.Answer<SelectionResult> where Method.Result == SelectionResult {
        guard let filter = selection.filter, selectsMany(filter, daemon) else {
            return try daemon.call(method, params(selection))
        }
        switch try daemon.attempt(method, params(TaskSelection(filter: filter, background: true))) {
        case .success(let answer):
            guard case .operation(let begun) = answer.value else { return answer }
            var waiter = try OperationWaiter(begun.operation, options)
            return try waiter.result()
        case .failure(let refusal) where reasonsForNone.contains(refusal.data?.reason ?? ""):
            return try daemon.call(method, params(selection))
        case .failure(let refusal):
            throw CommandFailure(refusal)
        }
    }

    /// Reasons with which a fleet, and an older daemon, refuse `background`.
    private static let reasonsForNone: Set = ["not_in_fleet", WireError.Reason.unknownField.rawValue]

    /// True if the filter selects more tasks than the daemon lists at once.
    private static func selectsMany(_ filter: TaskFilter, _ daemon: DaemonSession) -> Bool {
        var params = TaskList.Params()
        params.filter = filter
        params.fields = TaskColumns([])
        params.limit = TaskPages.largest
        guard let page = try? daemon.call(TaskList.self, params).value else { return false }
        return page.nextCursor != nil
    }

    private mutating func result() throws(CommandFailure) -> DaemonSession.Answer<SelectionResult> {
        let operation = try run()
        switch operation.state.value {
        case .failed:
            let reason = SafeText.sanitised(operation.error ?? "no reason is known")
            throw CommandFailure(
                .refused, "operation \(id) failed after \(operation.changedCount) tasks: \(reason)")
        case .cancelled:
            throw CommandFailure(
                .refused, "operation \(id) was cancelled after it had changed \(operation.changedCount) tasks")
        case .running, .completed, nil:
            var counted = SelectionResult.Counted(
                changedCount: Int(clamping: operation.changedCount),
                unchangedCount: Int(clamping: operation.unchangedCount))
            counted.refusedCount = operation.refusedCount.map { Int(clamping: $0) }
            counted.refused = operation.refused
            counted.files = operation.files
            return DaemonSession.Answer(raw: counted.wire, value: .filter(counted))
        }
    }

    private mutating func run() throws(CommandFailure) -> OperationRecord {
        defer { region.clear() }
        while true {
            do throws(CommandFailure) {
                let operation = try follow()
                guard operation.endedAt == nil else { return operation }
                show(operation.changedCount, operation.unchangedCount, reached: operation.reached, operation.last)
            } catch {
                // It went away while it was being asked.
                guard error.status == .noDaemon else { throw error.status == .interrupted ? interrupted : error }
            }
            try wait()
        }
    }

    /// Subscribes, then reads the operation: a change in between arrives as an event, so nothing is missed.
    private func follow() throws(CommandFailure) -> OperationRecord {
        _ = try session.daemon.call(
            EventsSubscribe.self,
            EventsSubscribe.Params(types: [.durable(.operationProgress), .durable(.operationEnded)]))
        return try session.daemon.call(OperationGet.self, OperationGet.Params(id: id)).value.operation
    }

    /// Waits until the operation has to be read again.
    private mutating func wait() throws(CommandFailure) {
        while true {
            guard case .event(let event) = try session.nextEvent(until: nil, interrupted: interrupted) else { return }
            guard event.value("operation") == id else { continue }
            if event.type == .known(.durable(.operationEnded)) { return }
            show(
                event.value("changed_count") ?? 0, event.value("unchanged_count") ?? 0,
                reached: event.value("reached"), event.value("last"))
        }
    }

    private mutating func show(_ changed: Int64, _ unchanged: Int64, reached: TaskID?, _ last: TaskID?) {
        guard terminal.isInteractive else { return }
        region.show([LiveRegion.Line(OperationText.progress(changed, unchanged, reached: reached, last: last))])
    }

    private var interrupted: CommandFailure {
        CommandFailure(
            .interrupted,
            "interrupted; the operation continues in the daemon. Show it with `xferctl operation show \(id)`, stop it with "
                + "`xferctl operation cancel \(id)`.")
    }
}
