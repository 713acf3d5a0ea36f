import Glibc
import XferModel
import XferSystem

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
    ///   - outputs: the descriptors among which a terminal is searched for.
    init(environment: (String) -> String? = environmentValue, outputs: [Output] = [.error, .standard]) {
        program = ChildProgram.find("notify-send", in: environment("PATH") ?? "")
        bell = outputs.first { isatty($0.descriptor) == 1 }
    }

    /// The notifier of --notify; nil without that option. Reports if there is no way to notify.
    static func requested(_ isRequested: Bool) -> Notifier? {
        guard isRequested else { return nil }
        let notifier = Notifier()
        if !notifier.isUsable { Output.error.line("xferctl: --notify: \(uselessness)") }
        return notifier
    }

    /// True if there is a way to notify.
    var isUsable: Bool { program != nil || bell != nil }

    /// The reason why there is none, and the remedy.
    static let uselessness =
        "there is nothing to notify with: notify-send is not in PATH (Debian has it in libnotify-bin), and output does "
        + "not go to a terminal"

    /// The number of the first event that was added and has not been passed to notify-send.
    var firstWaiting: Int64? { waiting.first?.seq }

    /// The time of the next call of `proceed`; nil if nothing is under way.
    var wakeUp: ContinuousClock.Instant? { running == nil ? nil : Readiness.now + Self.checkInterval }

    /// Notifies of the end of a task, at once or together with others.
    mutating func add(_ task: TaskSummary, seq: Int64) {
        waiting.append(End(task: task, seq: seq))
        proceed()
    }

    /// Notifies, and waits until notify-send has accepted it.
    mutating func deliver(_ note: DesktopNote) {
        finish()
        show(note)
        finish()
    }

    /// Notifies of the error that ended a wait, unless it came at once or from the user.
    mutating func deliver(_ error: CommandFailure) {
        guard error.status == .timedOut || error.status == .noDaemon else { return }
        deliver(DesktopNote(summary: "xferctl no longer waits", body: error.message))
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
        var spawn = ProcessSpawn(program, note.arguments)
        // Ctrl-C is not for it.
        spawn.group = .own
        do throws(SystemCallError) {
            running = Running(pid: try spawn.start(), deadline: Readiness.now + Self.patience)
        } catch {
            report("cannot be started: \(String(cString: strerror(error.code)))")
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
        guard found > 0 else { return }
        switch ProcessExit(status: status) {
        case .code(0): break
        case .code(let code): report("failed with exit status \(code)")
        case .signal(let number): report("was ended by signal \(number)")
        }
    }

    /// Reports a problem once: the cause will be the same the next time.
    private mutating func report(_ problem: String) {
        guard !hasReportedFailure else { return }
        hasReportedFailure = true
        Output.error.line("xferctl: notify-send \(problem); it needs a desktop session and its D-Bus")
    }
}
