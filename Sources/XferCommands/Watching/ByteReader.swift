import Glibc
import XferModel
import XferProtocol

/// Writes a task's bytes to standard output, once or until the task has ended.
///
/// `follow` reconnects after a restart of the daemon. When no more bytes are available, it waits for an event of the
/// task before it reads again, so that it does not poll.
struct ByteReader {
    private let id: TaskID
    private var session: LiveSession
    private let output: ByteOutput
    private var offset: Int64 = 0
    /// The version of the bytes written so far.
    private var version: String?
    private var storeID: String?

    init(_ id: TaskID, options: ConnectionOptions) throws(CommandFailure) {
        self.id = id
        session = try LiveSession(options, signals: SignalPipe(catching: SignalPipe.endSignals))
        output = try ByteOutput(path: nil, sparesTerminal: true)
    }

    /// Writes the bytes that are available now. Prints to standard error the reason if there are none.
    mutating func readAll() throws(CommandFailure) -> ExitStatus {
        let end = try readOn()
        guard offset == 0, end != .completed, end != .staged else { return .done }
        let task = TaskSummary(try session.daemon.call(TaskGet.self, TaskGet.Params(id: id)).value.task)
        guard task.isTerminal else {
            Output.error.line("xferctl: #\(id) has no bytes yet; `xferctl cat -f \(id)` waits for them")
            return .done
        }
        let outcome = OutcomeText(style: .plain).lines(task).first ?? "it has ended"
        throw CommandFailure(.taskFailed, "no bytes are kept: \(outcome)")
    }

    /// Writes bytes until the task has ended.
    mutating func follow() throws(CommandFailure) -> ExitStatus {
        try subscribe()
        while true {
            do throws(CommandFailure) {
                if let state = try readOn() { return state == .completed || state == .staged ? .done : .taskFailed }
                try waitForEvents()
            } catch {
                guard error.status == .noDaemon else { throw error }
                try reconnect()
            }
        }
    }

    /// Writes the available bytes. Returns the task's state if no bytes follow, nil if more may come.
    private mutating func readOn() throws(CommandFailure) -> TaskState? {
        var hasRepeated = false
        while true {
            let page: TaskRead.Result
            do throws(CommandFailure) {
                page = try session.daemon.call(TaskRead.self, TaskRead.Params(id: id, offset: offset)).value
            } catch {
                guard error.status == .refused, let end = try endState() else { throw error }
                // The task was cancelled or failed: the exit status follows from its state.
                if end == .cancelled || end == .failed, version != nil { return end }
                // The task may have completed between the two calls, so the published file is read again.
                guard end == .completed, !hasRepeated else { throw error }
                hasRepeated = true
                continue
            }
            guard let bytes = page.bytes else {
                throw CommandFailure(.refused, "cannot decode the daemon's answer to task.read: invalid field data")
            }
            if let found = page.version, !found.isEmpty, offset > 0 || !bytes.isEmpty {
                guard version == nil || version == found || offset == 0 else { throw changed }
                version = found
            }
            try output.write(bytes)
            offset = offset.addingSaturated(Int64(bytes.count))
            if page.eof { return page.state.value }
            if bytes.isEmpty {
                // The daemon has fewer bytes than were written, so the written ones are of a former version.
                if page.length < offset { throw changed }
                return nil
            }
        }
    }

    private var changed: CommandFailure {
        CommandFailure(
            .refused,
            "the bytes of task \(id) were discarded and are fetched again, or a hook has replaced them; the \(offset) bytes "
                + "written so far are of the earlier version")
    }

    /// The task's state if it has ended, else nil.
    private func endState() throws(CommandFailure) -> TaskState? {
        var params = TaskGet.Params(id: id)
        params.fields = TaskColumns(["state"])
        let state = try session.daemon.call(TaskGet.self, params).value.task.state?.value
        return state.flatMap { $0.isTerminal ? $0 : nil }
    }

    /// Subscribes to the task's events. Throws if the daemon has a new database, in which the id may belong to another
    /// task.
    private mutating func subscribe() throws(CommandFailure) {
        let found = try session.daemon.call(DaemonStatus.self).value.storeID
        if let storeID, storeID != found {
            throw CommandFailure(.refused, "the daemon has another database now, which does not contain the task")
        }
        storeID = found
        _ = try session.daemon.call(EventsSubscribe.self, EventsSubscribe.Params(taskIDs: [id]))
    }

    private mutating func waitForEvents() throws(CommandFailure) {
        while true {
            switch session.next(until: nil) {
            case .event(let event, _):
                // The daemon ends a subscription after an overflow.
                if event.type == .known(.overflow) { try subscribe() }
                return
            case .lost: throw CommandFailure(.noDaemon, "the daemon went away")
            case .signals: throw CommandFailure(.interrupted)
            case .keys, .answered, .timeUp: continue
            }
        }
    }

    private mutating func reconnect() throws(CommandFailure) {
        Output.error.line("xferctl: the daemon is gone; reconnecting")
        let end = Readiness.now + LiveSession.patience
        while true {
            if try session.reconnect(until: end) != nil { throw CommandFailure(.interrupted) }
            do throws(CommandFailure) {
                return try subscribe()
            } catch {
                // The daemon was still shutting down, or ended again while starting.
                guard error.status == .noDaemon, Readiness.now < end else { throw error }
            }
        }
    }
}
