import Glibc
import XferAria2
import XferClient
import XferModel
import XferProtocol

/// The program `xfer-aria2c`: takes aria2c's command line, hands its downloads to xferd, and waits for them.
public enum Aria2Program {
    /// Runs the program; returns aria2c's exit status.
    public static func main(_ words: [String]) -> Int32 {
        do throws(Aria2Fault) {
            let line = try Aria2CommandLine(words)
            if line.wantsVersion {
                Output.standard.line("aria2 version 1.37.0 (xfer-aria2c: xferd downloads)")
                return 0
            }
            if line.wantsHelp {
                Output.standard.line(help)
                return 0
            }
            guard let paths = PathResolver.here() else { throw failure("the working directory cannot be found") }
            let job = try Aria2Job(line, paths: paths, read: read)
            for warning in job.warnings { complain(warning) }
            return Int32(clamping: try run(job))
        } catch {
            complain(error.message)
            return Int32(clamping: error.code == badOption ? Aria2ErrorNumber.unknown : Aria2ErrorNumber.badOption)
        }
    }

    /// The code of a fault that is not the command line's.
    private static let badOption: Int64 = -1

    private static let help = """
        usage: xfer-aria2c [OPTION]… URI…
        Accepts the command line of aria2c(1); xferd downloads. Options that xferd cannot honour are refused,
        options that cannot change the result are ignored. URIs of one command are mirrors, as with aria2c.
        """

    private static func failure(_ message: String) -> Aria2Fault { Aria2Fault(message, code: badOption) }

    private static func run(_ job: Aria2Job) throws(Aria2Fault) -> Int {
        let connection: XferConnection
        do throws(NoDaemonError) {
            connection = try SocketLocator.ofThisProcess().connect(to: .automatic).connection
        } catch {
            guard DaemonStarter.mayStart(after: error) else { throw failure(error.description) }
            do throws(CommandFailure) {
                let line = try DaemonStarter().start()
                Output.error.line("xfer-aria2c: \(line)")
                connection = try DaemonSession.open(.automatic).connection
            } catch {
                throw failure(error.message)
            }
        }
        let signals = SignalPipe(catching: SignalPipe.endSignals)
        var ids: [TaskID] = []
        for task in job.tasks {
            guard case .one(let one) = try call(connection, TaskAdd.self, .one(task)) else { continue }
            ids.append(one.task.id)
        }
        // From here on a signal pauses what was added.
        connection.interruptDescriptor = signals?.descriptor
        return try wait(for: ids, connection, job)
    }

    private static func call<Method: RPCMethod>(
        _ connection: XferConnection, _ method: Method.Type, _ params: Method.Params
    ) throws(Aria2Fault) -> Method.Result {
        do throws(CallError) {
            return try connection.call(method, params)
        } catch {
            throw failure(error.description)
        }
    }

    private static func wait(for ids: [TaskID], _ connection: XferConnection, _ job: Aria2Job) throws(Aria2Fault) -> Int
    {
        let fields = TaskColumns(["state", "progress", "error", "final_path", "client_key", "output", "url"])
        let interval: Double? = job.showsProgress && Terminal.standard.isInteractive ? 1 : 60
        while true {
            let result: TaskWait.Result
            do throws(CallError) {
                result = try connection.call(
                    TaskWait.self, TaskWait.Params(ids: ids, timeout: interval, fields: fields))
            } catch .connection(.interrupted) {
                return try pause(ids, connection)
            } catch {
                throw failure(error.description)
            }
            guard result.timedOut else { return finish(result.tasks, job) }
            if job.showsProgress, Terminal.standard.isInteractive { showProgress(Aria2ProgressText.line(result.tasks)) }
        }
    }

    /// Pauses the downloads after a signal: like aria2c, xferd keeps the bytes for the next call.
    private static func pause(_ ids: [TaskID], _ connection: XferConnection) throws(Aria2Fault) -> Int {
        connection.interruptDescriptor = nil
        _ = try call(connection, TaskPause.self, TaskSelection(ids: ids))
        let words = ids.map(\.description).joined(separator: " ")
        complain("paused; `xferctl resume \(words)` resumes it")
        return Aria2ErrorNumber.unfinished
    }

    /// Shows the results; returns the number of the last failure.
    private static func finish(_ tasks: [TaskRecord], _ job: Aria2Job) -> Int {
        if job.showsProgress, Terminal.standard.isInteractive { showProgress("") }
        var number = Aria2ErrorNumber.success
        for task in tasks {
            let status = Aria2Status(task, seed: Aria2Seed(storeID: ""))
            if status.state != .complete { number = max(Aria2ErrorNumber.unknown, status.errorNumber) }
            if let error = task.error, status.state == .error {
                complain("#\(task.id): \(error.message) (errorCode=\(status.errorNumber))")
            }
            if !job.hidesResults { Output.standard.line(Aria2ProgressText.result(task)) }
        }
        return number
    }

    private static func read(_ path: String) throws(Aria2Fault) -> [UInt8] {
        do throws(CommandFailure) {
            return try FileText.bytes(path, option: "aria2c")
        } catch {
            throw Aria2Fault(error.message)
        }
    }

    private static func complain(_ text: String) { Output.error.line("xfer-aria2c: \(SafeText.sanitised(text))") }

    /// Replaces the terminal's line.
    private static func showProgress(_ text: String) { Output.standard.write("\r\u{1B}[K\(text)") }
}
