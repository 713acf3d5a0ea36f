import Glibc
import XferSystem

/// The way in which a running daemon of this machine was started, which is how it has to be started again.
///
/// Another command line would start another daemon, with another state directory and an empty queue.
struct DaemonLaunch: Hashable {
    private static let variables = ["XFERD_CONFIG", "XFERD_STATE_DIR", "XFERD_SOCKET"]

    let keeper: DaemonKeeper
    /// The command line, with the variables that select its files; nil if the process cannot be inspected.
    let command: String?
    /// True if `xferctl add` or `xferctl daemon start` would start the same daemon.
    let isOrdinary: Bool

    /// - Parameters:
    ///   - text: the contents of a file of proc(5); nil if it cannot be read.
    ///   - own: the environment of this process.
    init(
        processID: Int64, text: (_ path: String) -> String?, own: [String: String] = ProcessEnvironment.all
    ) {
        func entries(_ name: String) -> [String] {
            (text("/proc/\(processID)/\(name)") ?? "").split(separator: "\0").map(String.init)
        }
        keeper = DaemonKeeper(cgroup: (text("/proc/\(processID)/cgroup") ?? "").split(separator: "\n").map(String.init))
        let words = entries("cmdline")
        let environment = entries("environ").filter { entry in
            Self.variables.contains { entry.hasPrefix("\($0)=") && entry != "\($0)=" }
        }
        let expected = Self.variables.compactMap { name in
            own[name].flatMap { $0.isEmpty ? nil : "\(name)=\($0)" }
        }
        let line = (environment.sorted() + words).map { SuggestedCommand.quoted($0) }.joined(separator: " ")
        command = words.isEmpty ? nil : SafeText.sanitised(line)
        isOrdinary =
            !words.isEmpty && words.dropFirst().allSatisfy { $0 == "--foreground-log" }
            && environment.sorted() == expected.sorted()
    }

    /// The advice to restart the daemon.
    var restart: String {
        switch keeper {
        case .systemManager: return "sudo systemctl restart xferd"
        case .userManager: return "systemctl --user restart xferd"
        case .unmanaged: break
        }
        if isOrdinary { return "xferctl daemon stop, then xferctl daemon start" }
        guard let command else { return Self.anyRestart }
        return "stop it and start it again as it was started: \(command)"
    }

    /// The advice if the daemon's process cannot be inspected.
    static let anyRestart =
        "systemctl restart xferd (--user for your own), or stop it and start it again as it was started"

    /// The sentence about a daemon without a service manager.
    var keeperText: String {
        if isOrdinary { return "no service manager: after a restart of the machine `xferctl add` starts it" }
        let again = command.map { ": \($0)" } ?? ""
        return "no service manager: after a restart of the machine start it again\(again)"
    }

    /// The file to which the daemon's errors, and so its log, are written; nil if it is none, or cannot be read.
    static func logFile(processID: Int64) -> String? {
        guard let path = realpath("/proc/\(processID)/fd/2", nil) else { return nil }
        defer { free(path) }
        var facts = stat()
        guard stat(path, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG, access(path, R_OK) == 0 else { return nil }
        return String(cString: path)
    }
}
