import Glibc
import NIOConcurrencyHelpers
import Testing
import XferTestSupport

@testable import XferManager

/// Programs are started with nothing but what they are given, and nothing of them is left.
@Suite struct HookProcessTests {
    private func run(
        _ script: String, timeout: Duration = Patience.limit, grace: Duration = .milliseconds(100), input: String = "",
        stop: HookStop = HookStop(), onLine: @escaping @Sendable (String) -> Void = { _ in }
    ) async -> (report: HookProcess.Report, lines: [String]) {
        let lines = NIOLockedValueBox<[String]>([])
        var command = HookProcess.Command(
            arguments: ["/bin/sh", "-c", script, "the hook", "an argument; with 'all' $(kinds)"],
            environment: ["PATH=/usr/bin:/bin", "XFER_TASK=7"], input: Array(input.utf8), timeout: timeout)
        command.grace = grace
        command.stopGrace = grace
        let report = await offThreadReport(command, stop) { line in
            lines.withLockedValue { $0.append(line) }
            onLine(line)
        }
        return (report, lines.withLockedValue { $0 })
    }

    private func offThreadReport(
        _ command: HookProcess.Command, _ stop: HookStop, _ onLine: @escaping @Sendable (String) -> Void
    ) async -> HookProcess.Report {
        await withCheckedContinuation { continuation in
            startThread { continuation.resume(returning: HookProcess.run(command, stop: stop, onLine: onLine)) }
        }
    }

    /// Processes of a session that have not ended.
    private func living(inSession session: Int) throws -> [Int] {
        try FileTree.names(in: "/proc").compactMap { Int($0) }.filter { pid in
            guard let stat = try? FileTree.text("/proc/\(pid)/stat"), let end = stat.lastIndex(of: ")") else {
                return false
            }
            let fields = stat[end...].split(separator: " ")
            return fields.count > 4 && fields[4] == "\(session)" && fields[1] != "Z"
        }
    }

    @Test func aHookReceivesOnlyItsInputEnvironmentAndDescriptors() async throws {
        let script = """
            cat; echo "$1"; pwd; echo "$XFER_TASK"; env | cut -d= -f1 | sort | tr '\\n' ' '; echo
            ls /proc/self/fd | tr '\\n' ' '; echo
            cut -d' ' -f1,5,6,7 /proc/$$/stat
            exec grep -E 'SigBlk|SigIgn' /proc/self/status
            """
        signal(SIGPIPE, SIG_IGN)
        let (report, lines) = await run(script, input: "{\"id\":7}\n")
        #expect(report == HookProcess.Report(end: .exited(0)))
        try #require(lines.count == 9, "\(lines)")
        #expect(lines[0] == "{\"id\":7}")
        #expect(lines[1] == "an argument; with 'all' $(kinds)")
        #expect(lines[2] == "/")
        #expect(lines[3] == "7")
        #expect(lines[4] == "PATH PWD XFER_TASK ")
        // Standard input, output and errors, and the directory that is listed.
        #expect(lines[5] == "0 1 2 3 ")
        let ids = lines[6].split(separator: " ")
        // It leads its process group and its session, which has no terminal.
        #expect(ids[0] == ids[1] && ids[1] == ids[2] && ids[3] == "0", "\(lines[6])")
        let (blocked, ignored) = (Self.mask(lines[7]), Self.mask(lines[8]))
        // `grep` replaces the shell, which blocks signals for moments while it waits.
        // Signals 32 and 33 are glibc's own, which posix_spawn has ignored.
        #expect(blocked == 0 && ignored.map { $0 & ~0x1_8000_0000 } == 0, "\(lines)")
    }

    /// The signals of a line of /proc/PID/status.
    private static func mask(_ line: String) -> UInt64? {
        line.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) }
    }

    @Test func exitsSignalsAndFailedStartsAreDistinguished() async {
        #expect(await run("exit 3").report.end == .exited(3))
        #expect(await run("kill -SEGV $$").report.end == .signalled(SIGSEGV))
        let missing = HookProcess.Command(
            arguments: ["/nonexistent/hook"], environment: [], input: [], timeout: .seconds(1))
        #expect(await offThreadReport(missing, HookStop(), { _ in }).end == .notStarted(ENOENT))
        let directory = HookProcess.Command(arguments: ["/tmp"], environment: [], input: [], timeout: .seconds(1))
        #expect(await offThreadReport(directory, HookStop(), { _ in }).end == .notStarted(EACCES))
    }

    @Test func aHookThatHangsIsKilledWithAllItsProcesses() async throws {
        let session = NIOLockedValueBox(0)
        let script = "echo $$; trap '' TERM; sleep 1000 & sleep 1000 & wait; wait; sleep 1000"
        let report = await run(script, timeout: Patience.seconds(2)) { line in
            session.withLockedValue { $0 = Int(line) ?? 0 }
        }.report
        #expect(report.end == .timedOut)
        let found = session.withLockedValue { $0 }
        try #require(found > 0)
        try await eventually("all have ended") { try living(inSession: found).isEmpty }
    }

    @Test func aHookThatHandlesTerminationIsNotKilled() async {
        let (report, lines) = await run(
            "trap 'echo bye; exit 0' TERM; echo up; while :; do sleep 0.05; done", timeout: Patience.seconds(2),
            grace: Patience.limit)
        #expect(report.end == .timedOut && lines.first == "up" && lines.last == "bye", "\(lines)")
    }

    /// A hook that forks a child and exits: it has succeeded, and the child is gone.
    @Test func aProcessThatOutlivesItsHookIsKilled() async throws {
        let (report, lines) = await run("echo $$; sleep 1000 & echo started")
        #expect(report.end == .exited(0))
        #expect(lines.count == 2 && lines[1] == "started")
        let session = try #require(Int(lines[0]))
        try await eventually("all have ended") { try living(inSession: session).isEmpty }
    }

    /// A process that began its own session is not killed. Its hook's end does not wait for it,
    /// although the process holds the pipe.
    @Test func aProcessThatLeftTheSessionDoesNotDelayTheHooksEnd() async throws {
        // The process is in its session before xferd kills the hook's.
        let isAway = #"until [ "$(cut -d' ' -f6 /proc/$!/stat)" = $! ]; do sleep 0.01; done"#
        let (report, lines) = await run("setsid sleep 1000 & \(isAway); echo $!; exit 4")
        #expect(report.end == .exited(4))
        let pid = try #require(lines.first.flatMap { Int32($0) })
        #expect(kill(pid, SIGKILL) == 0)
    }

    @Test func outputBeyondTheLimitIsReadAndDiscarded() async {
        let (report, lines) = await run("head -c 104857600 /dev/zero | tr '\\0' 'a'; exit 5")
        #expect(report.end == .exited(5))
        #expect(report.discarded >= 104_857_600 - 65_536)
        #expect(lines.reduce(0) { $0 + $1.utf8.count } <= 65_536)
    }

    @Test func aHookEndsOnAStopRequest() async throws {
        let stop = HookStop()
        let session = NIOLockedValueBox(0)
        let report = await run("echo $$; sleep 1000", stop: stop) { line in
            session.withLockedValue { $0 = Int(line) ?? 0 }
            stop.request()
        }.report
        #expect(report.end == .stopped)
        try await eventually("all have ended") { try living(inSession: session.withLockedValue { $0 }).isEmpty }
        // A stop that is requested before the start prevents it.
        let (again, lines) = await run("echo never", stop: stop)
        #expect(again.end == .stopped && lines.isEmpty)
    }

    @Test func endedHooksLeaveNoZombieProcess() async throws {
        func children() throws -> Set<String> {
            Set(try FileTree.text("/proc/self/task/\(getpid())/children").split(separator: " ").map(String.init))
        }
        for _ in 0..<20 { _ = await run("sleep 0.01 & exit 0") }
        for child in try children() {
            let status = (try? FileTree.text("/proc/\(child)/status")) ?? ""
            #expect(!status.contains("State:\tZ") || !status.contains("Name:\tsh"), "\(status.prefix(80))")
        }
    }
}
