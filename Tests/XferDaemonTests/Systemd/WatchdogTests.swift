import Glibc
import NIOConcurrencyHelpers
import Testing
import XferTestSupport

@testable import XferDaemon

@Suite struct WatchdogTests {
    @Test func aHealthyServiceFeedsTheWatchdogAtHalfItsInterval() async throws {
        let directory = try TemporaryDirectory()
        let receiver = try DatagramReceiver(directory.file("notify"))
        let environment = ["NOTIFY_SOCKET": directory.file("notify"), "WATCHDOG_USEC": "30000000"]
        let watchdog = try #require(Watchdog(environment: environment))
        let clock = ScriptedClock(sleeps: 3)
        let answers = NIOLockedValueBox([true, false, true, false])
        await watchdog.run(clock: clock) {
            let told = receiver.next()
            clock.note("told \(told ?? "nothing")")
            return answers.withLockedValue { $0.isEmpty ? false : $0.removeFirst() }
        }
        #expect(
            clock.notes == [
                "told nothing", "slept 15.0 seconds", "told WATCHDOG=1", "slept 15.0 seconds", "told nothing",
                "slept 15.0 seconds", "told WATCHDOG=1",
            ])
    }

    @Test(
        arguments: [
            [:], ["WATCHDOG_USEC": "1000000"], ["NOTIFY_SOCKET": "/n"],
            ["NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": "0"], ["NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": "soon"],
            ["NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": "1000000", "WATCHDOG_PID": "1"],
        ] as [[String: String]])
    func withoutWATCHDOGUSECThereIsNoWatchdog(environment: [String: String]) {
        #expect(Watchdog(environment: environment, processID: 42) == nil)
    }

    @Test func theWatchdogBelongsToTheProcessInWATCHDOGPID() {
        let environment = ["NOTIFY_SOCKET": "/n", "WATCHDOG_USEC": "1000000", "WATCHDOG_PID": "42"]
        #expect(Watchdog(environment: environment, processID: 42)?.timeout == .seconds(1))
    }
}

/// A clock on which a number of sleeps pass at once; the next one is cancelled.
private final class ScriptedClock: Clock {
    typealias Instant = ContinuousClock.Instant

    private let start = ContinuousClock.now
    private let state: NIOLockedValueBox<(sleeps: Int, notes: [String])>

    init(sleeps: Int) { state = NIOLockedValueBox((sleeps: sleeps, notes: [])) }

    var now: Instant { start }
    var minimumResolution: Duration { .nanoseconds(1) }
    var notes: [String] { state.withLockedValue { $0.notes } }

    func note(_ text: String) { state.withLockedValue { $0.notes.append(text) } }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try state.withLockedValue { state in
            guard state.sleeps > 0 else { throw CancellationError() }
            state.sleeps -= 1
            state.notes.append("slept \(start.duration(to: deadline))")
        }
    }
}
