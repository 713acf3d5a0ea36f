import CLinux
import Glibc
import XferSystem

/// Starts a hook's program.
enum HookSpawn {
    struct Child {
        let pid: pid_t
        /// The descriptor of the output pipe's read end, non-blocking. The caller closes it.
        let output: Int32
    }

    static func start(_ command: HookProcess.Command) -> Result<Child, SystemCallError> {
        let input = xfer_memory_file("hook")
        guard input >= 0 else { return .failure(SystemCallError("memfd_create")) }
        defer { close(input) }
        guard fill(input, with: command.input) else { return .failure(SystemCallError("write")) }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return .failure(SystemCallError("pipe")) }
        let (output, pipeEnd) = (ends[0], ends[1])
        defer { close(pipeEnd) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        _ = fcntl(output, F_SETFL, O_NONBLOCK)
        var spawn = ProcessSpawn(command.arguments[0], Array(command.arguments.dropFirst()))
        spawn.environment = command.environment
        spawn.directory = "/"
        spawn.input = .descriptor(input)
        spawn.output = .descriptor(pipeEnd)
        spawn.errors = .descriptor(pipeEnd)
        spawn.group = .ownSession
        do throws(SystemCallError) {
            return .success(Child(pid: try spawn.start(), output: output))
        } catch {
            close(output)
            return .failure(error)
        }
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
}
