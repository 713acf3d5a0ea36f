import CLinux
import Glibc
import NIOConcurrencyHelpers

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
            let exit = Self.wait(for: started)
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

    private static func wait(for pid: pid_t) -> Exit {
        var status: Int32 = 0
        while waitpid(pid, &status, 0) < 0 && errno == EINTR {}
        let signal = status & 0x7f
        return signal == 0 ? .code(status >> 8 & 0xff) : .signal(signal)
    }

    private static func spawn(_ executable: String, _ arguments: [String], _ options: Options) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, 0, options.input, O_RDONLY, 0)
        posix_spawn_file_actions_addopen(&actions, 1, options.output, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        posix_spawn_file_actions_addopen(&actions, 2, options.errors, O_WRONLY | O_CREAT | O_APPEND, 0o600)
        xfer_spawn_close_from(&actions, 3)
        if let directory = options.directory { xfer_spawn_change_directory(&actions, directory) }

        // Signals that a test runner ignores or blocks are reset for the child.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var all = sigset_t()
        var none = sigset_t()
        sigfillset(&all)
        sigemptyset(&none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK))

        let environment = options.environment?.map { "\($0.key)=\($0.value)" } ?? inheritedEnvironment()
        var pid: pid_t = 0
        let failure = withCStrings([executable] + arguments) { argv in
            withCStrings(environment) { envp in posix_spawn(&pid, executable, &actions, &attributes, argv, envp) }
        }
        guard failure == 0 else {
            errno = failure
            throw PosixError("posix_spawn \(executable)")
        }
        return pid
    }

    private static func inheritedEnvironment() -> [String] {
        var entries: [String] = []
        var next = environ
        while let entry = next.pointee {
            entries.append(String(cString: entry))
            next += 1
        }
        return entries
    }

    private static func withCStrings<Result>(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = strings.map { strdup($0) } + [nil]
        defer { for copy in copies { free(copy) } }
        return body(copies)
    }
}
