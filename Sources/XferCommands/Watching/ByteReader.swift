import Glibc
import XferModel
import XferProtocol

/// Writes a task's bytes to standard output, once or until the task has ended; outlives restarts of the daemon.
///
/// Between two reads it waits for news of the task: nothing is asked for that may not have come.
struct ByteReader {
    private let id: TaskID
    private var session: LiveSession
    private let output: ByteOutput
    private var offset: Int64 = 0
    /// Of the bytes written so far.
    private var version: String?
    private var storeID: String?

    init(_ id: TaskID, options: ConnectionOptions) throws(CommandFailure) {
        self.id = id
        session = try LiveSession(options, signals: SignalPipe(catching: [SIGINT, SIGTERM]))
        output = try ByteOutput(path: nil)
    }

    /// What is there now.
    mutating func readAll() throws(CommandFailure) -> ExitStatus {
        _ = try readOn()
        return .done
    }

    /// Goes on until the task has ended.
    mutating func follow() throws(CommandFailure) -> ExitStatus {
        try subscribe()
        while true {
            do throws(CommandFailure) {
                if let state = try readOn() { return state == .completed || state == .staged ? .done : .taskFailed }
                try waitForNews()
            } catch {
                guard error.status == .noDaemon else { throw error }
                try reconnect()
            }
        }
    }

    /// Reads what is there; the state when nothing follows.
    private mutating func readOn() throws(CommandFailure) -> TaskState? {
        var hasRepeated = false
        while true {
            let page: TaskRead.Result
            do throws(CommandFailure) {
                page = try session.daemon.call(TaskRead.self, TaskRead.Params(id: id, offset: offset)).value
            } catch {
                guard error.status == .refused, let end = try endState() else { throw error }
                // It was cancelled, say: its end tells how to exit.
                if end == .cancelled || end == .failed, version != nil { return end }
                // It may have ended just now: its file is asked for once more.
                guard end == .completed, !hasRepeated else { throw error }
                hasRepeated = true
                continue
            }
            guard let bytes = page.bytes else {
                throw CommandFailure(.refused, "the daemon's answer to task.read is not understood: data is damaged")
            }
            if let found = page.version, !found.isEmpty, offset > 0 || !bytes.isEmpty {
                guard version == nil || version == found || offset == 0 else { throw changed }
                version = found
            }
            try output.write(bytes)
            offset = offset.addingSaturated(Int64(bytes.count))
            if page.eof { return page.state.value }
            if bytes.isEmpty {
                // What was written is of bytes that are not there any more.
                if page.length < offset { throw changed }
                return nil
            }
        }
    }

    private var changed: CommandFailure {
        CommandFailure(
            .refused,
            "the bytes of task \(id) were given up and are fetched anew, or a hook made others of them; the \(offset) bytes "
                + "written so far are of the former version")
    }

    /// The task's state if it has ended.
    private func endState() throws(CommandFailure) -> TaskState? {
        var params = TaskGet.Params(id: id)
        params.fields = TaskColumns(["state"])
        let state = try session.daemon.call(TaskGet.self, params).value.task.state?.value
        return state.flatMap { $0.isTerminal ? $0 : nil }
    }

    /// With a new database the id may be another task's.
    private mutating func subscribe() throws(CommandFailure) {
        let found = try session.daemon.call(DaemonStatus.self).value.storeID
        if let storeID, storeID != found {
            throw CommandFailure(.refused, "the daemon came back with another database, which does not know the task")
        }
        storeID = found
        _ = try session.daemon.call(EventsSubscribe.self, EventsSubscribe.Params(taskIDs: [id]))
    }

    private mutating func waitForNews() throws(CommandFailure) {
        while true {
            switch session.next(until: nil) {
            case .event(let event, _):
                // A subscription that lost some begins anew.
                if event.type == .known(.overflow) { try subscribe() }
                return
            case .lost: throw CommandFailure(.noDaemon, "the daemon went away")
            case .signals: throw CommandFailure(.interrupted)
            case .keys, .timeUp: continue
            }
        }
    }

    private mutating func reconnect() throws(CommandFailure) {
        Output.error.line("xferctl: the daemon went away; looking for it")
        let end = Readiness.now + LiveSession.patience
        while true {
            if try session.reconnect(until: end) != nil { throw CommandFailure(.interrupted) }
            do throws(CommandFailure) {
                return try subscribe()
            } catch {
                // It was still going away, or went away again while starting.
                guard error.status == .noDaemon, Readiness.now < end else { throw error }
            }
        }
    }
}
