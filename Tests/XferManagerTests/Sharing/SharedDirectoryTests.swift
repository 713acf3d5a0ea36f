import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferManager

/// Shared bytes lie in the directory of the task that came first, and the others need them longer.
@Suite struct SharedDirectoryTests {
    /// The first task has its file, and with it goes the only task that has named the directory of the bytes.
    @Test func aTaskGetsTheSharedBytesFromTheDirectoryOfATaskThatHasEnded() async throws {
        let stalled = try await CoalescingTests.Stalled()
        let other = try stalled.fixture.directory.makeDirectory("other")
        let first = try await stalled.add("a")
        let second = try await stalled.add("b") { $0.destination.directory = other }
        try await stalled.halfWay([first, second])
        try await stalled.apply(.pause, second)
        try await stalled.runsEnded(second)
        stalled.gate.open()
        try await stalled.completed([first], names: ["a"])
        try await stalled.runsEnded(first)

        try await stalled.apply(.resume, second)
        let task = try await stalled.fixture.end(of: second, in: stalled.manager)
        #expect(task.state == .completed, "\(String(describing: task.error))")
        #expect(try CoalescingTests.version.equals(file: "\(other)/b"))
        #expect(stalled.requests == 1)
        let events = try await stalled.fixture.events(of: second, in: stalled.manager)
        #expect(!events.contains(.taskBytesDiscarded))
        try await stalled.end(with: ["a"])
    }
}
