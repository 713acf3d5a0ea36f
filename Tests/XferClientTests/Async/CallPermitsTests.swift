import NIOConcurrencyHelpers
import Testing
import XferTestSupport

@testable import XferClient

/// Calls of a client wait for each other in order.
struct CallPermitsTests {
    @Test func noMoreCallersGoOnThanThereArePermitsAndTheOthersFollowInOrder() async throws {
        let permits = CallPermits(2)
        try await permits.acquire()
        try await permits.acquire()
        let entered = NIOLockedValueBox<[Int]>([])
        var callers: [Task<Void, any Error>] = []
        for number in 0..<3 {
            callers.append(
                Task {
                    try await permits.acquire()
                    entered.withLockedValue { $0.append(number) }
                })
            // The next one asks once this one waits.
            try await eventually("it waits") { permits.waitingCount == number + 1 }
        }
        #expect(entered.withLockedValue(\.self) == [])
        permits.release()
        _ = try await callers[0].value
        permits.release()
        _ = try await callers[1].value
        #expect(entered.withLockedValue(\.self) == [0, 1])
        permits.release()
        _ = try await callers[2].value
    }

    @Test func aCancelledCallerTakesNoPermit() async throws {
        let permits = CallPermits(1)
        try await permits.acquire()
        let caller = Task { try await permits.acquire() }
        try await eventually("it waits") { permits.waitingCount == 1 }
        caller.cancel()
        await #expect(throws: CancellationError.self) { try await caller.value }
        permits.release()
        try await permits.acquire()
        permits.release()
    }
}
