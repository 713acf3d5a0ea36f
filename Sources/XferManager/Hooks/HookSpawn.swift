import CLinux
import Glibc

/// Starting a hook's program with posix_spawn(3).
enum HookSpawn {
    struct Child {
        let pid: pid_t
        /// The read end of the output pipe, non-blocking. The caller closes it.
        let output: Int32
    }

    struct Failure: Error, CustomStringConvertible {
        let code: Int32

        var description: String { String(cString: strerror(code)) }
    }

    static func start(_ command: HookProcess.Command) -> Result<Child, Failure> {
        let input = xfer_memory_file("hook")
        guard input >= 0 else { return .failure(Failure(code: errno)) }
        defer { close(input) }
        guard fill(input, with: command.input) else { return .failure(Failure(code: errno)) }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return .failure(Failure(code: errno)) }
        let (output, pipeEnd) = (ends[0], ends[1])
        defer { close(pipeEnd) }
        // A hook that starts at the same moment must not inherit these descriptors. It also closes all descriptors it
        // was not given.
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(output, F_SETFL, O_NONBLOCK)
        var pid: pid_t = 0
        let code = spawn(&pid, command, input: input, output: pipeEnd)
        guard code == 0 else {
            close(output)
            return .failure(Failure(code: code))
        }
        return .success(Child(pid: pid, output: output))
    }

    /// Writes the bytes; afterwards the descriptor is at their beginning.
    private static func fill(_ descriptor: Int32, with bytes: [UInt8]) -> Bool {
        var written = 0
        while written < bytes.count {
            let count = bytes.withUnsafeBytes {
                write(descriptor, $0.baseAddress.map { $0 + written }, bytes.count - written)
            }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            written += count
        }
        return lseek(descriptor, 0, SEEK_SET) == 0
    }

    private static func spawn(
        _ pid: inout pid_t, _ command: HookProcess.Command, input: Int32, output: Int32
    ) -> Int32 {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO)
        xfer_spawn_close_from(&actions, 3)
        xfer_spawn_change_directory(&actions, "/")

        // The hook does not inherit this process's ignored or blocked signals.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var all = sigset_t()
        var none = sigset_t()
        sigfillset(&all)
        sigemptyset(&none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setsigmask(&attributes, &none)
        let flags = POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | Int32(XFER_SPAWN_SETSID)
        posix_spawnattr_setflags(&attributes, Int16(clamping: flags))

        return withCStrings(command.arguments) { arguments in
            withCStrings(command.environment) { environment in
                posix_spawn(&pid, command.arguments[0], &actions, &attributes, arguments, environment)
            }
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
