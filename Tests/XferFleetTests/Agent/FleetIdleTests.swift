import Foundation
import Testing
import XferTestSupport

@Suite(.enabled(if: FleetFixture.isPossible, "needs PostgreSQL"))
struct FleetIdleTests {
    /// At the times of service: nothing is divided here.
    @Test func anIdleAgentWakesOnceASecondAtMost() async throws {
        let database = try await makeFleetDatabase()
        let node = try FleetNodeFixture("a", database: database.fleet, scale: 1)
        #expect(try await node.run("migrate").isSuccess)
        try await node.start()
        // Sleeps: that nothing happens is the subject. What the start leaves to do is done first.
        try await Task.sleep(for: .seconds(3))
        let pid = try #require(node.process?.pid)
        let before = try Self.waits(of: pid)
        // Sleeps: as above.
        try await Task.sleep(for: .seconds(20))
        #expect(try Self.waits(of: pid) - before <= 20)
        await node.stop()
        await database.stop()
    }

    /// How often threads of a process have gone on after having waited (proc(5), voluntary_ctxt_switches).
    private static func waits(of pid: Int32) throws -> Int {
        try FileTree.names(in: "/proc/\(pid)/task").map { thread in
            let status = try String(contentsOfFile: "/proc/\(pid)/task/\(thread)/status", encoding: .utf8)
            let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches") }
            return line.flatMap { Int($0.split(separator: "\t").last ?? "") } ?? 0
        }.reduce(0, +)
    }
}
