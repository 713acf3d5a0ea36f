import Glibc

/// The service manager of a daemon's process, if it has one.
enum DaemonKeeper: Hashable {
    case systemManager
    case userManager
    /// Started by hand or by `xferctl`.
    case unmanaged

    init(processID: Int64) {
        self.init(cgroup: Self.text(of: "/proc/\(processID)/cgroup").split(separator: "\n").map(String.init))
    }

    /// - Parameter cgroup: the lines of `/proc/PID/cgroup` (cgroups(7)); none outside Linux's hierarchy.
    init(cgroup: [String]) {
        let unit = cgroup.first { $0.hasSuffix("/xferd.service") }
        self =
            if let unit {
                unit.contains("/user.slice/") || unit.contains("/user@") ? .userManager : .systemManager
            } else {
                .unmanaged
            }
    }

    /// Waits until a process has ended; false if it has not in time.
    static func waitForEnd(of processID: Int64) -> Bool {
        guard let pid = pid_t(exactly: processID), pid > 0 else { return true }
        let end = Readiness.now + .seconds(20)
        // A process whose parent does not collect it, as in a container, has ended too.
        while kill(pid, 0) == 0 || errno == EPERM, !text(of: "/proc/\(pid)/stat").contains(") Z ") {
            guard Readiness.now < end else { return false }
            _ = Readiness.wait(for: [], timeout: .milliseconds(20))
        }
        return true
    }

    /// The beginning of a file of proc(5); empty if it cannot be read.
    private static func text(of path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var buffer = [UInt8](repeating: 0, count: 16_384)
        let count = read(descriptor, &buffer, buffer.count)
        return String(decoding: buffer[..<max(0, count)], as: UTF8.self)
    }
}
