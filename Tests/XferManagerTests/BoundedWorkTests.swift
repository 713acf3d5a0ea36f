import Testing
import XferTestSupport

@testable import XferManager

/// Work that may hang delays its caller for a bounded time.
@Suite struct BoundedWorkTests {
    private struct Refused: Error {}

    @Test func theResultOrTheErrorOfTheWorkIsPassedOn() async throws {
        #expect(try await result(within: Patience.long) { 5 } == 5)
        await #expect(throws: Refused.self) { _ = try await result(within: Patience.long) { throw Refused() } as Int? }
    }

    @Test func workThatHangsIsLeftBehind() async throws {
        let gate = Gate()
        let found: Int? = try await result(within: .milliseconds(10)) {
            await gate.wait()
            return 5
        }
        #expect(found == nil)
        gate.open()
    }
}
