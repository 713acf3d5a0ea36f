import Glibc
import XferClient
import XferSystem

/// Starts a daemon for this user where none runs: by the user's systemd if that has the unit, else in the background.
struct DaemonStarter {
    private let managers = ServiceManagers.ofThisMachine()

    /// The longest time of a start: a large queue is restored before the socket answers.
    private static let patience = Duration.seconds(60)
    private static let interval = Duration.milliseconds(20)
    /// The uid of unknown users (user_namespaces(7)). Daemons refuse it, so that it could not even stop its own daemon.
    private static let overflowUser: uid_t = 65534
    private static let remedy =
        "specify directories that you can write to: `export XFERD_STATE_DIR=DIR`, then `xferctl add -d DIR URL`"

    /// True if the failure to connect means that no daemon of the user's runs, and another one would serve.
    ///
    /// If the system's daemon has the user's tasks and is down, no other one is started.
    static func mayStart(
        after error: NoDaemonError, isRoot: Bool = geteuid() == 0,
        hasSystemManager: Bool = ServiceManagers.ofThisMachine().hasSystem,
        isOwnDirectory: (String) -> Bool = UserPlaces.isOwnDirectory
    ) -> Bool {
        guard error.tried.contains(where: { $0.candidate.origin == .user }) else { return false }
        // On a machine with systemd the system's daemon is root's.
        guard !(isRoot && hasSystemManager) else { return false }
        return error.tried.allSatisfy { failed in
            switch (failed.candidate.origin, failed.error) {
            case (.user, .noSocket), (.user, .notListening), (.userState, .noSocket), (.userState, .notListening):
                true
            // After `su`, XDG_RUNTIME_DIR may be another user's: this user's daemon lies in the state directory.
            case (.user, .permissionDenied(let path)):
                !isOwnDirectory(path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "/")
            case (.system, .noSocket), (.system, .permissionDenied): true
            default: false
            }
        }
    }

    /// Starts a daemon and returns when it answers.
    ///
    /// - Parameter isRequested: true if the user explicitly requests a start, so that `client.start` does not apply.
    /// - Returns: one line about the started daemon.
    func start(isRequested: Bool = false) throws(CommandFailure) -> String {
        guard geteuid() != Self.overflowUser else {
            throw CommandFailure(
                .noDaemon,
                "no daemon runs, and none can be started for uid 65534, which represents every unknown user: "
                    + "run this as a user of its own")
        }
        guard let program = ChildProgram.find("xferd") else {
            throw CommandFailure(.noDaemon, "no daemon runs, and xferd is neither beside xferctl nor in PATH")
        }
        let environment = Self.cleaned(ProcessEnvironment.all)
        let facts = try facts(program, environment)
        guard facts.mayStart || isRequested else {
            throw CommandFailure(
                .noDaemon,
                "no daemon runs, and client.start: never forbids to start one; `xferctl daemon start` starts it")
        }
        if let line = try startBySystemd(program) { return line }
        return try startInBackground(program, environment, facts)
    }

    // MARK: What the daemon says of itself

    private struct Facts {
        let mayStart: Bool
        let stateDirectory: String
        let socket: String

        var log: String { stateDirectory + "/xferd.log" }
    }

    private func facts(_ program: String, _ environment: [String: String]) throws(CommandFailure) -> Facts {
        guard let ending = ChildProgram.run(program, ["--print-start"], environment: environment) else {
            throw CommandFailure(.noDaemon, "no daemon runs, and \(program) cannot be started")
        }
        let lines = ending.output.split(separator: "\n").map(String.init)
        guard ending.status == 0, lines.count == 3 else {
            let reason = lines.first.map { SafeText.sanitised($0) } ?? "\(program) says nothing"
            throw CommandFailure(.noDaemon, "no daemon runs, and none can be started: \(reason)")
        }
        return Facts(mayStart: lines[0] != "never", stateDirectory: lines[1], socket: lines[2])
    }

    // MARK: systemd

    /// Starts the user's unit; nil if the user has no service manager, or its unit starts another program.
    private func startBySystemd(_ program: String) throws(CommandFailure) -> String? {
        let isElsewhere = ["XFERD_STATE_DIR", "XFERD_CONFIG", "XFERD_SOCKET"].contains { (name: String) in
            ProcessEnvironment.all[name]?.isEmpty == false
        }
        guard managers.hasUser, !isElsewhere,
            let unit = UserManager.systemctl("show", "--property=ExecStart", "--value", "xferd.service"),
            unit.status == 0, Self.path(ofExecStart: unit.output) == program,
            UserManager.systemctl("start", "xferd.socket", "xferd.service")?.status == 0
        else { return nil }
        try waitForAnswer(of: nil, log: nil)
        return "no daemon ran: started xferd.service of your systemd; "
            + "`systemctl --user enable xferd.socket xferd.service` starts it at each login"
    }

    /// The program in `{ path=/usr/bin/xferd ; argv[]=… }`, as systemctl shows it; nil if there is none.
    static func path(ofExecStart text: String) -> String? {
        guard let start = text.firstRange(of: "path=") else { return nil }
        let path = text[start.upperBound...].prefix { $0 != ";" && $0 != "\n" }
        let trimmed = path.split(separator: " ").first.map(String.init)
        return trimmed?.hasPrefix("/") == true ? trimmed : nil
    }

    // MARK: In the background

    private func startInBackground(
        _ program: String, _ environment: [String: String], _ facts: Facts
    ) throws(CommandFailure) -> String {
        let log = try openLog(facts)
        defer { close(log) }
        let begin = lseek(log, 0, SEEK_END)
        guard let child = ChildProgram.start(program, ["--foreground-log"], environment: environment, output: log)
        else { throw CommandFailure(.noDaemon, "no daemon runs, and \(program) cannot be started") }
        try waitForAnswer(of: child, log: (facts.log, begin))
        return "no daemon ran: started xferd for you (process \(child), log "
            + "\(SafeText.sanitised(facts.log))); `xferctl daemon stop` ends it"
    }

    /// The length of a log at which a start renames it.
    private static let longestLog: off_t = 4 << 20

    /// The log, in the state directory, which only its user can read.
    private func openLog(_ facts: Facts) throws(CommandFailure) -> Int32 {
        if let failure = Self.makeDirectories(facts.stateDirectory) {
            throw CommandFailure(
                .noDaemon,
                "no daemon runs, and none can be started: \(SafeText.sanitised(failure.path)) cannot be created: "
                    + "\(failure.reason); \(Self.remedy)")
        }
        var status = stat()
        if stat(facts.log, &status) == 0, status.st_size > Self.longestLog { rename(facts.log, facts.log + ".1") }
        let log = open(facts.log, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard log >= 0 else {
            let reason = String(cString: strerror(errno))
            throw CommandFailure(
                .noDaemon,
                "no daemon runs, and none can be started: \(SafeText.sanitised(facts.log)) cannot be written: \(reason); "
                    + Self.remedy)
        }
        return log
    }

    /// Creates the directory and its parents.
    ///
    /// - Returns: the first directory that is missing and cannot be created; nil if there is none.
    static func makeDirectories(_ path: String) -> (path: String, reason: String)? {
        var made = ""
        let names = path.split(separator: "/")
        for (index, name) in names.enumerated() {
            made += "/" + name
            guard mkdir(made, index == names.count - 1 ? 0o700 : 0o755) != 0 else { continue }
            let code = errno
            // Some file systems refuse before they say that the directory exists.
            if access(made, F_OK) != 0 { return (made, String(cString: strerror(code))) }
        }
        return nil
    }

    /// Waits until the user's daemon answers.
    ///
    /// - Parameter child: the process that was started; another process may have started a daemon earlier.
    private func waitForAnswer(of child: pid_t?, log: (path: String, begin: off_t)?) throws(CommandFailure) {
        let end = Readiness.now + Self.patience
        let locator = SocketLocator.ofThisProcess()
        while true {
            if (try? locator.connect(to: .user, waitsForStart: false)) != nil { return }
            var status: Int32 = 0
            if let child, waitpid(child, &status, WNOHANG) == child {
                if (try? locator.connect(to: .user)) != nil { return }
                let words = log.map { Self.tail(of: $0.path, from: $0.begin) } ?? ""
                throw CommandFailure(.noDaemon, "no daemon runs, and none can be started: \(words)")
            }
            guard Readiness.now < end else {
                throw CommandFailure(.noDaemon, "xferd was started but does not answer yet; see `xferctl daemon log`")
            }
            _ = Readiness.wait(for: [], timeout: Self.interval)
        }
    }

    /// The last lines that the daemon wrote.
    private static func tail(of path: String, from begin: off_t) -> String {
        let lines = LogTail.lines(of: path, count: 3, from: begin)
        return lines.isEmpty
            ? "xferd ended without a message" : lines.map { SafeText.sanitised($0) }.joined(separator: " / ")
    }

    // MARK: The environment

    /// The environment without the variables that a service manager set for this process alone.
    static func cleaned(_ environment: [String: String]) -> [String: String] {
        let foreign: Set = [
            "NOTIFY_SOCKET", "WATCHDOG_PID", "WATCHDOG_USEC", "LISTEN_FDS", "LISTEN_PID", "LISTEN_FDNAMES",
            "JOURNAL_STREAM", "INVOCATION_ID", "STATE_DIRECTORY", "RUNTIME_DIRECTORY", "CACHE_DIRECTORY",
            "LOGS_DIRECTORY", "CONFIGURATION_DIRECTORY", "CREDENTIALS_DIRECTORY", "XFERD_SOCKET",
        ]
        return environment.filter { !foreign.contains($0.key) }
    }
}
