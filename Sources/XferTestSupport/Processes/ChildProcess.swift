import Glibc
import NIOConcurrencyHelpers
import XferSystem

/// A process started with posix_spawn(3). It inherits no descriptors and no signal settings; unless `Options` sets
/// them, it inherits the environment and the working directory.
///
/// Its output goes to files, so that a long output never blocks the process. It is killed when the last reference is
/// released.
public final class ChildProcess: Sendable {
    /// The way in which a process ended.
    public enum Exit: Sendable, Hashable {
        case code(Int32)
        case signal(Int32)

        fileprivate init(_ exit: ProcessExit) {
            self =
                switch exit {
                case .code(let code): .code(code)
                case .signal(let number): .signal(number)
                }
        }
    }

    /// The options for starting a process.
    public struct Options: Sendable {
        /// The environment; nil inherits this process's environment.
        public var environment: [String: String]?
        public var directory: String?
        /// File to read standard input from.
        public var input = "/dev/null"
        /// Files that output is appended to.
        public var output = "/dev/null"
        public var errors = "/dev/null"

        public init() {}
    }

    private struct State {
        var exit: Exit?
        var waiters: [CheckedContinuation<Exit, Never>] = []
    }

    public let pid: Int32
    private let state: NIOLockedValueBox<State>

    /// Starts `executable`, an absolute path.
    public init(_ executable: String, _ arguments: [String], options: Options = Options()) throws {
        let started = try Self.spawn(executable, arguments, options)
        let box = NIOLockedValueBox(State())
        pid = started
        state = box
        startThread {
            let exit = Exit(ProcessExit.wait(for: started))
            let waiters = box.withLockedValue { state in
                state.exit = exit
                defer { state.waiters = [] }
                return state.waiters
            }
            for waiter in waiters { waiter.resume(returning: exit) }
        }
    }

    deinit { signal(SIGKILL) }

    /// True if the end of the process has not been observed yet.
    public var isRunning: Bool { state.withLockedValue { $0.exit == nil } }

    /// Sends a signal, unless the end of the process has been observed: its id may then belong to another process.
    public func signal(_ number: Int32) {
        state.withLockedValue { state in
            if state.exit == nil { kill(pid, number) }
        }
    }

    /// Waits until the process has ended, and returns how it ended.
    @discardableResult
    public func exit() async -> Exit {
        await withCheckedContinuation { continuation in
            let known = state.withLockedValue { state in
                if state.exit == nil { state.waiters.append(continuation) }
                return state.exit
            }
            if let known { continuation.resume(returning: known) }
        }
    }

    private static func spawn(_ executable: String, _ arguments: [String], _ options: Options) throws -> pid_t {
        var spawn = ProcessSpawn(executable, arguments)
        spawn.environment = options.environment?.map { "\($0.key)=\($0.value)" }
        spawn.directory = options.directory
        spawn.input = .file(options.input)
        spawn.output = .file(options.output)
        spawn.errors = .file(options.errors)
        return try spawn.start()
    }
}
