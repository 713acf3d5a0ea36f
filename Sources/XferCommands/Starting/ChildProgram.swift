import Glibc

/// Programs that `xferctl` runs: without a shell, with a clean set of descriptors and signals.
enum ChildProgram {
    /// The file of a program: beside this one, or in an absolute directory of PATH.
    static func find(_ name: String) -> String? {
        var directories = (getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin").split(separator: ":")
            .map(String.init).filter { $0.hasPrefix("/") }
        if let own = realpath("/proc/self/exe", nil) {
            defer { free(own) }
            let path = String(cString: own)
            directories.insert(String(path[..<(path.lastIndex(of: "/") ?? path.startIndex)]), at: 0)
        }
        return directories.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    /// The result of a finished program.
    struct Ending: Hashable {
        /// The exit status, or nil after a signal.
        let status: Int32?
        /// The first 64 KiB of its output and errors.
        let output: String
    }

    /// Runs a program to its end and reads its output; nil if it cannot be started.
    static func run(_ program: String, _ arguments: [String], environment: [String: String]) -> Ending? {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        let child = start(program, arguments, environment: environment, output: ends[1])
        close(ends[1])
        defer { close(ends[0]) }
        guard let child else { return nil }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = read(ends[0], &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            if bytes.count < 65_536 { bytes += buffer[..<count] }
        }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
        return Ending(
            status: status & 0x7f == 0 ? status >> 8 & 0xff : nil, output: String(decoding: bytes, as: UTF8.self))
    }

    /// Starts a program in a session of its own, in the directory `/`, with `output` as its output and errors.
    static func start(
        _ program: String, _ arguments: [String], environment: [String: String], output: Int32
    ) -> pid_t? {
        // A lock that a script has by a descriptor would otherwise last as long as the daemon.
        for descriptor in openDescriptors where descriptor > STDERR_FILENO {
            let flags = fcntl(descriptor, F_GETFD)
            if flags >= 0 { _ = fcntl(descriptor, F_SETFD, flags | FD_CLOEXEC) }
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO)
        posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO)

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
            &attributes, Int16(clamping: POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK) | newSession)

        var words = ([program] + arguments).map { strdup($0) } + [nil]
        var variables = environment.map { strdup("\($0.key)=\($0.value)") } + [nil]
        defer { for text in words + variables { free(text) } }
        // The daemon must not keep a disk from being unmounted.
        let directory = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        _ = chdir("/")
        defer {
            if directory >= 0 {
                _ = fchdir(directory)
                close(directory)
            }
        }
        var pid: pid_t = 0
        return posix_spawn(&pid, program, &actions, &attributes, &words, &variables) == 0 ? pid : nil
    }

    /// POSIX_SPAWN_SETSID of <spawn.h>, which glibc shows with _GNU_SOURCE only.
    private static let newSession: Int16 = 0x80

    private static var openDescriptors: [Int32] {
        guard let directory = opendir("/proc/self/fd") else { return [] }
        defer { closedir(directory) }
        var found: [Int32] = []
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: 256) { String(cString: $0) }
            }
            if let number = Int32(name, radix: 10) { found.append(number) }
        }
        return found
    }
}
