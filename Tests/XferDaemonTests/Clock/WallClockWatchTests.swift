import Glibc
import Testing
import XferTestSupport

@testable import XferDaemon

/// Sets the clock to the time it shows: the kernel counts that as a change, and no program's time changes.
private enum Clock {
    static let maySet = set()

    static func set() -> Bool {
        var now = timespec()
        return clock_gettime(CLOCK_REALTIME, &now) == 0 && clock_settime(CLOCK_REALTIME, &now) == 0
    }
}

@Suite(.enabled(if: Clock.maySet, "needs CAP_SYS_TIME")) struct WallClockWatchTests {
    @Test func everySettingOfTheClockIsReported() async throws {
        let (sets, continuation) = AsyncStream.makeStream(of: Void.self)
        try WallClockWatch.start { continuation.yield() }
        var told = sets.makeAsyncIterator()
        for _ in 1...3 {
            #expect(Clock.set())
            await told.next()
        }
    }
}
