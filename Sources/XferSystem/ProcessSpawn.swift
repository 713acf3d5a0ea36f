import CLinux
import Glibc

/// A program to start with posix_spawn(3), without a shell.
///
/// The child gets no descriptors but its standard ones, and no signal of this process that is ignored or blocked.
public struct ProcessSpawn: Sendable {
    /// The object behind one of the child's standard descriptors.
    public enum Stream: Hashable, Sendable {
        case null
        /// An open descriptor of this process.
        case descriptor(CInt)
        /// A file that is read, or that output is appended to and that is made if it is missing.
        case file(String)
    }

    /// The group of processes that the child belongs to.
    public enum Group: Hashable, Sendable {
        /// The group of this process: signals of the terminal reach both.
        case inherited
        /// A process group of its own: Ctrl-C does not reach the child.
        case own
        /// A process group in a session of its own, without a terminal.
        case ownSession
    }

    /// The program's path.
    public var program: String
    /// The arguments after the program's path.
    public var arguments: [String]
    /// All of its environment, as `NAME=value`; nil inherits this process's.
    public var environment: [String]?
    /// The working directory; nil inherits this process's.
    public var directory: String?
    public var input = Stream.null
    public var output = Stream.null
    public var errors = Stream.null
    public var group = Group.inherited

    public init(_ program: String, _ arguments: [String] = []) {
        self.program = program
        self.arguments = arguments
    }

    /// Starts the program. The caller has to wait for the process (waitpid(2)).
    ///
    /// - Returns: the process id.
    public func start() throws(SystemCallError) -> CInt {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        Self.add(input, as: STDIN_FILENO, opened: O_RDONLY, to: &actions)
        Self.add(output, as: STDOUT_FILENO, opened: O_WRONLY | O_CREAT | O_APPEND, to: &actions)
        Self.add(errors, as: STDERR_FILENO, opened: O_WRONLY | O_CREAT | O_APPEND, to: &actions)
        xfer_spawn_close_from(&actions, STDERR_FILENO + 1)
        if let directory { xfer_spawn_change_directory(&actions, directory) }

        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var all = sigset_t()
        var none = sigset_t()
        sigfillset(&all)
        sigemptyset(&none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(
            &attributes, Int16(clamping: POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | group.flag))

        var pid: CInt = 0
        let code = Self.withCStrings([program] + arguments) { argv in
            guard let environment else { return posix_spawn(&pid, program, &actions, &attributes, argv, environ) }
            return Self.withCStrings(environment) { posix_spawn(&pid, program, &actions, &attributes, argv, $0) }
        }
        guard code == 0 else { throw SystemCallError("posix_spawn", on: program, code: code) }
        return pid
    }

    private static func add(
        _ stream: Stream, as target: CInt, opened flags: CInt, to actions: inout posix_spawn_file_actions_t
    ) {
        switch stream {
        case .null: posix_spawn_file_actions_addopen(&actions, target, "/dev/null", flags & O_ACCMODE, 0)
        case .descriptor(let source): posix_spawn_file_actions_adddup2(&actions, source, target)
        case .file(let path): posix_spawn_file_actions_addopen(&actions, target, path, flags, 0o600)
        }
    }

    private static func withCStrings<Result>(
        _ strings: [String], _ body: ([UnsafeMutablePointer<CChar>?]) -> Result
    ) -> Result {
        let copies = strings.map { strdup($0) } + [nil]
        defer { for copy in copies { free(copy) } }
        return body(copies)
    }
}

extension ProcessSpawn.Group {
    fileprivate var flag: CInt {
        switch self {
        case .inherited: 0
        case .own: POSIX_SPAWN_SETPGROUP
        case .ownSession: CInt(XFER_SPAWN_SETSID)
        }
    }
}

/// The way in which a process ended.
public enum ProcessExit: Hashable, Sendable {
    case code(CInt)
    case signal(CInt)

    /// Reads the status that waitpid(2) gives for a process that has ended.
    public init(status: CInt) {
        let signal = status & 0x7f
        self = signal == 0 ? .code(status >> 8 & 0xff) : .signal(signal)
    }

    /// Waits until a child of this process has ended, and collects it.
    public static func wait(for pid: CInt) -> ProcessExit {
        var status: CInt = 0
        while waitpid(pid, &status, 0) < 0, errno == EINTR {}
        return ProcessExit(status: status)
    }
}

/// The environment of this process (environ(7)).
public enum ProcessEnvironment {
    /// All variables. If a name occurs twice, the last value is used.
    public static var all: [String: String] {
        var found: [String: String] = [:]
        var entry = environ
        while let pointer = entry.pointee {
            let text = String(cString: pointer)
            if let equals = text.firstIndex(of: "=") {
                found[String(text[..<equals])] = String(text[text.index(after: equals)...])
            }
            entry += 1
        }
        return found
    }
}
