import CLinux
import Glibc
import XferCore
import XferModel
import XferSystem

/// One run of a program. Processes that remain in its process group are killed. Blocks: run it on a `BlockingPool`.
///
/// The program leads its own session and process group, has no terminal and works in `/`. It gets only its arguments,
/// its environment, standard input from memory and one pipe for output and errors. It is waited for by a pidfd
/// (pidfd_open(2)), independently of SIGCHLD handlers.
struct HookProcess {
    struct Command: Sendable {
        /// The program's absolute path and its arguments.
        var arguments: [String]
        /// All of its environment, as `NAME=value`.
        var environment: [String]
        var input: [UInt8]
        var timeout: Duration
        /// The time between SIGTERM and SIGKILL after the timeout.
        var grace = Duration.seconds(5)
        /// The time between a requested stop and the kill; see `grace`.
        var stopGrace = Duration.seconds(1)
        var output = HookOutput.Limits()
    }

    enum End: Hashable, Sendable {
        case exited(Int32)
        case signalled(Int32)
        case timedOut
        /// A stop was requested.
        case stopped
        /// `errno` of the step that failed.
        case notStarted(Int32)

        init(_ exit: ProcessExit) {
            self =
                switch exit {
                case .code(let code): .exited(code)
                case .signal(let number): .signalled(number)
                }
        }
    }

    /// The exit of the program, and the size of its output that was discarded.
    struct Report: Hashable, Sendable {
        var end: End
        var discarded: Int64 = 0
    }

    private let pid: pid_t
    private let pidfd: Int32
    private let output: Int32
    private var lines: HookOutput
    private var isOutputOpen = true

    /// Runs `command` to its end and kills what remains of its process group.
    ///
    /// - Parameter onLine: gets each line of its output, on the calling thread.
    static func run(_ command: Command, stop: HookStop, onLine: (String) -> Void) -> Report {
        guard !stop.isRequested else { return Report(end: .stopped) }
        switch HookSpawn.start(command) {
        case .failure(let failure): return Report(end: .notStarted(failure.code))
        case .success(let child):
            let pidfd = xfer_pidfd_open(child.pid)
            guard pidfd >= 0 else {
                let code = errno
                kill(-child.pid, SIGKILL)
                _ = ProcessExit.wait(for: child.pid)
                close(child.output)
                return Report(end: .notStarted(code))
            }
            var process = HookProcess(
                pid: child.pid, pidfd: pidfd, output: child.output, lines: HookOutput(command.output))
            defer {
                close(pidfd)
                close(child.output)
            }
            return process.follow(command, stop, onLine)
        }
    }

    private init(pid: pid_t, pidfd: Int32, output: Int32, lines: HookOutput) {
        self.pid = pid
        self.pidfd = pidfd
        self.output = output
        self.lines = lines
    }

    private mutating func follow(_ command: Command, _ stop: HookStop, _ onLine: (String) -> Void) -> Report {
        var deadline = ContinuousClock.now + command.timeout
        /// The reason for which the program was requested to end.
        var reason: End?
        var wasKilled = false
        while true {
            let ready = wait(for: reason == nil ? stop.descriptor : -1, until: wasKilled ? nil : deadline)
            if ready.contains(output) { drain(onLine) }
            if ready.contains(pidfd) { break }
            let isStopped = ready.contains(stop.descriptor)
            if reason == nil, isStopped || ContinuousClock.now >= deadline {
                reason = isStopped ? .stopped : .timedOut
                deadline = ContinuousClock.now + (isStopped ? command.stopGrace : command.grace)
                kill(-pid, SIGTERM)
            } else if reason != nil, !wasKilled, ContinuousClock.now >= deadline {
                wasKilled = true
                kill(-pid, SIGKILL)
            }
        }
        // The process id is not reused before `waitpid`, so this cannot be another process group.
        kill(-pid, SIGKILL)
        let exit = ProcessExit.wait(for: pid)
        drain(onLine)
        if let last = lines.onEnd() { onLine(last) }
        return Report(end: reason ?? End(exit), discarded: lines.discarded)
    }

    /// Returns which of the output, the pidfd and `stop` (-1 for none) are ready; none if the deadline has passed.
    private func wait(for stop: Int32, until deadline: ContinuousClock.Instant?) -> Set<Int32> {
        var polls = [
            pollfd(fd: pidfd, events: Int16(POLLIN), revents: 0), pollfd(fd: stop, events: Int16(POLLIN), revents: 0),
            pollfd(fd: isOutputOpen ? output : -1, events: Int16(POLLIN), revents: 0),
        ]
        var milliseconds: Int32 = -1
        if let deadline {
            let left = max(.zero, ContinuousClock.now.duration(to: deadline))
            milliseconds = Int32(saturating: (left / .milliseconds(1)).rounded(.up))
        }
        guard poll(&polls, nfds_t(polls.count), milliseconds) > 0 else { return [] }
        return Set(polls.filter { $0.revents != 0 }.map(\.fd))
    }

    /// Reads only the available bytes: another process may hold the pipe's write end open, and must not block this one.
    private mutating func drain(_ onLine: (String) -> Void) {
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        for _ in 0..<Self.maxReads where isOutputOpen {
            let count = read(output, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            // EAGAIN means that no data is available, not the end.
            guard count > 0 else {
                isOutputOpen = count < 0
                return
            }
            for line in lines.onBytes(buffer[..<count]) { onLine(line) }
        }
    }

    private static let maxReads = 64
}

/// A request to stop a hook, which the thread that waits for the hook can poll.
final class HookStop: Sendable {
    /// The descriptor, readable once the stop was requested.
    let descriptor: Int32

    init() { descriptor = xfer_eventfd_create() }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Requests the stop. May be called repeatedly, and before the hook has started.
    func request() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, MemoryLayout.size(ofValue: one))
    }

    var isRequested: Bool {
        var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return Glibc.poll(&poll, 1, 0) > 0
    }
}
