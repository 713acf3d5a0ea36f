import Glibc
import XferSystem

/// Programs that `xferctl` runs: without a shell, with a clean set of descriptors and signals.
enum ChildProgram {
    /// The file of a program: beside this one, or in an absolute directory of PATH.
    static func find(_ name: String) -> String? {
        if let own = realpath("/proc/self/exe", nil) {
            defer { free(own) }
            let path = String(cString: own)
            let file = "\(path[..<(path.lastIndex(of: "/") ?? path.startIndex)])/\(name)"
            if access(file, X_OK) == 0 { return file }
        }
        return find(name, in: getenv("PATH").map { String(cString: $0) } ?? "/usr/bin:/bin")
    }

    /// The file of a program in an absolute directory of `path`, whose directories have colons between them. A relative
    /// one would run a program of the working directory.
    static func find(_ name: String, in path: String) -> String? {
        path.split(separator: ":").filter { $0.hasPrefix("/") }.map { "\($0)/\(name)" }
            .first { access($0, X_OK) == 0 }
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
        let text = String(decoding: bytes, as: UTF8.self)
        return switch ProcessExit.wait(for: child) {
        case .code(let status): Ending(status: status, output: text)
        case .signal: Ending(status: nil, output: text)
        }
    }

    /// Starts a program in a session of its own, in the directory `/`, with `output` as its output and errors.
    ///
    /// The daemon must neither keep a disk from being unmounted, nor keep a lock that a script has by a descriptor.
    static func start(
        _ program: String, _ arguments: [String], environment: [String: String], output: Int32
    ) -> pid_t? {
        var spawn = ProcessSpawn(program, arguments)
        spawn.environment = environment.map { "\($0.key)=\($0.value)" }
        spawn.directory = "/"
        spawn.output = .descriptor(output)
        spawn.errors = .descriptor(output)
        spawn.group = .ownSession
        return try? spawn.start()
    }
}
