import Glibc
import Testing
import XferTestSupport

/// A service that has nothing to do does not wake up the machine.
@Suite struct IdleTests {
    /// How long nothing may happen. Whatever runs on a timer shows itself within.
    private static let silence = Duration.seconds(10)

    @Test(.disabled(if: Patience.factor > 1, "a sanitizer wakes up by itself"))
    func anIdleDaemonDoesNotWakeUp() async throws {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(80, length: 300_000)
        server.serve("/f", source)
        try await withDaemon { daemon in
            try expectFile(try await daemon.complete(try await daemon.add(server.url("/f"))), is: source)
            let process = try #require(daemon.process)
            // What the work left behind is tidied up first, soon after. Then one stretch without any wake-up has to come;
            // a timer would never let it.
            var seen: [WakeUps] = []
            for _ in 0..<4 {
                let before = try WakeUps(of: process.pid)
                // Sleeps: that nothing happens for so long is the subject.
                try await Task.sleep(for: Self.silence)
                let between = try WakeUps(of: process.pid).since(before)
                if between.isEmpty { return }
                seen.append(between)
            }
            Issue.record("threads woke up within \(Self.silence): \(seen)")
        }
    }
}

/// How often each thread of a process gave up the processor because it had to wait (proc_pid_status(5)): to wait again it
/// has to have woken up.
private struct WakeUps: CustomStringConvertible {
    private struct Line: Hashable {
        let thread: String
        let name: String
    }

    private var counts: [Line: Int] = [:]

    init(of pid: Int32) throws {
        for thread in try FileTree.names(in: "/proc/\(pid)/task") {
            // One that ends meanwhile is one that woke up: its absence counts below.
            guard let status = try? FileTree.text("/proc/\(pid)/task/\(thread)/status") else { continue }
            let fields = status.split(separator: "\n").map { $0.split(separator: "\t", maxSplits: 1) }
            let name = fields.first { $0.first == "Name:" }?.last.map(String.init) ?? ""
            counts[Line(thread: thread, name: name)] =
                fields.first { $0.first == "voluntary_ctxt_switches:" }?.last.flatMap { Int($0) }
        }
        guard !counts.isEmpty else { throw TimedOut("no thread of process \(pid) can be read") }
    }

    /// Threads that woke up, came or went.
    func since(_ earlier: WakeUps) -> WakeUps {
        var result = self
        result.counts = counts.filter { earlier.counts[$0.key] != $0.value }.mapValues { $0 }
        for (line, count) in earlier.counts where counts[line] == nil { result.counts[line] = -count }
        return result
    }

    var isEmpty: Bool { counts.isEmpty }

    var description: String { counts.map { "\($0.key.name) (\($0.key.thread)): \($0.value)" }.sorted().description }
}
