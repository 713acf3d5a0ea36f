import Testing
import XferModel
import XferTestSupport

@Suite struct ManualClockTests {
    @Test func sleepersWakeWhenTheirTimeCame() async throws {
        let clock = ManualClock()
        let start = clock.now
        let sleeper = Task { try await clock.sleep(until: start.advanced(by: .seconds(10))) }
        try await eventually("asleep") { clock.sleeperCount == 1 }
        clock.advance(by: .seconds(9))
        #expect(clock.sleeperCount == 1)
        clock.advance(by: .seconds(1))
        try await sleeper.value
        #expect(clock.now == start.advanced(by: .seconds(10)))
    }

    @Test func cancellingWakesASleeper() async throws {
        let clock = ManualClock()
        let sleeper = Task { try await clock.sleep(until: clock.now.advanced(by: .seconds(10))) }
        try await eventually("asleep") { clock.sleeperCount == 1 }
        sleeper.cancel()
        await #expect(throws: CancellationError.self) { try await sleeper.value }
    }

    @Test func aReleasedTemporaryDirectoryIsRemoved() throws {
        var directory: TemporaryDirectory? = try TemporaryDirectory()
        let path = try #require(directory?.path)
        try FileTree.write("x", to: "\(path)/a")
        _ = try directory?.makeDirectory("d", mode: 0o500)
        #expect(try directory?.entries() == ["a", "d/"])
        directory = nil
        #expect(!FileTree.exists(path))
    }
}
