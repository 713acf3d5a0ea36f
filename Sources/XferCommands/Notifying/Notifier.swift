import Glibc
import XferModel

/// Notifies the user of this machine: with notify-send(1) on the desktop, and with the terminal's bell.
///
/// It never waits unless `finish` is called. One notify-send runs at a time. If more than `maxSingle` ends are waiting
/// when it has exited, one notification is about all of them.
struct Notifier {
    /// The path of notify-send; nil where it is not installed.
    private let program: String?
    /// The terminal whose bell rings with each notification.
    private let bell: Output?
    private var waiting: [End] = []
    private var running: Running?
    private var hasReportedFailure = false

    /// The end of a task, with the number of its event.
    private struct End {
        let task: TaskSummary
        let seq: Int64
    }

    private struct Running {
        let pid: pid_t
        /// The time at which notify-send is killed: without a notification server it may wait for one.
        let deadline: ContinuousClock.Instant
    }

    private static let maxSingle = 3
    private static let patience = Duration.seconds(10)
    private static let checkInterval = Duration.milliseconds(50)

    /// - Parameters:
    ///   - environment: looked up for `PATH`.
    ///   - outputs: where a terminal is looked for.
    init(environment: (String) -> String? = environmentValue, outputs: [Output] = [.error, .standard]) {
        program = Self.find("notify-send", in: environment("PATH") ?? "")
        bell = outputs.first { isatty($0.descriptor) == 1 }
    }

    /// True if there is a way to notify.
    var isUsable: Bool { program != nil || bell != nil }

    /// Why there is none, and what helps.
    static let uselessness =
        "there is nothing to notify with: notify-send is not in PATH (Debian has it in libnotify-bin), and output does "
        + "not go to a terminal"

    /// The number of the first event that has been added and not been handed to notify-send.
    var firstWaiting: Int64? { waiting.first?.seq }

    /// The time of the next call of `proceed`; nil if nothing is under way.
    var wakeUp: ContinuousClock.Instant? { running == nil ? nil : Readiness.now + Self.checkInterval }

    /// Notifies of the end of a task, at once or together with others.
    mutating func add(_ task: TaskSummary, seq: Int64) {
        waiting.append(End(task: task, seq: seq))
        proceed()
    }

    /// Notifies, and waits until the notification was handed over.
    mutating func deliver(_ note: DesktopNote) {
        finish()
        show(note)
        finish()
    }

    /// Waits until all notifications were sent, at most `patience` for each.
    mutating func finish() {
        while running != nil || !waiting.isEmpty {
            proceed()
            guard running != nil else { continue }
            _ = Readiness.wait(for: [], timeout: Self.checkInterval)
        }
    }

    /// Starts the next notification if notify-send is free.
    mutating func proceed() {
        collect()
        while running == nil, let first = waiting.first {
            let isMany = waiting.count > Self.maxSingle
            let note = DesktopNote(isMany ? waiting.map(\.task) : [first.task])
            if isMany { waiting = [] } else { waiting.removeFirst() }
            show(note)
        }
    }

    private mutating func show(_ note: DesktopNote) {
        bell?.write("\u{7}")
        guard let program else { return }
        switch Self.start(program, note.arguments) {
        case .success(let pid):
            running = Running(pid: pid, deadline: Readiness.now + Self.patience)
        case .failure(let failure): report("cannot be started: \(failure)")
        }
    }

    /// Notices the exit of notify-send.
    private mutating func collect() {
        guard let child = running else { return }
        let isLate = Readiness.now >= child.deadline
        if isLate { kill(child.pid, SIGKILL) }
        var status: Int32 = 0
        let found = waitpid(child.pid, &status, isLate ? 0 : WNOHANG)
        guard found != 0, found > 0 || errno != EINTR else { return }
        running = nil
        if found > 0, status != 0 {
            let signal = status & 0x7f
            report(signal == 0 ? "failed with exit status \(status >> 8 & 0xff)" : "was ended by signal \(signal)")
        }
    }

    /// Once: the cause will be the same the next time.
    private mutating func report(_ problem: String) {
        guard !hasReportedFailure else { return }
        hasReportedFailure = true
        Output.error.line("xferctl: notify-send \(problem); it needs a desktop session and its D-Bus")
    }

    // MARK: The program

    private static func find(_ name: String, in path: String) -> String? {
        // Relative entries would run a program of the current directory.
        let directories = path.split(separator: ":").filter { $0.hasPrefix("/") }
        return directories.map { "\($0)/\(name)" }.first { access($0, X_OK) == 0 }
    }

    private struct StartFailure: Error, CustomStringConvertible {
        let code: Int32

        var description: String { String(cString: strerror(code)) }
    }

    /// Starts a program without a shell, with the environment of this process and without input and output.
    private static func start(_ program: String, _ arguments: [String]) -> Result<pid_t, StartFailure> {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor in 0..<Int32(3) {
            posix_spawn_file_actions_addopen(&actions, descriptor, "/dev/null", O_RDWR, 0)
        }
        // This program ignores SIGPIPE and forwards others, which a child would inherit in part.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigdefault(&attributes, &all)
        // A group of its own: Ctrl-C is not for it.
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))
        var words = ([program] + arguments).map { strdup($0) } + [nil]
        defer { for word in words { free(word) } }
        var pid: pid_t = 0
        let code = posix_spawn(&pid, program, &actions, &attributes, &words, environ)
        return code == 0 ? .success(pid) : .failure(StartFailure(code: code))
    }
}
