import Testing
import XferModel

@testable import XferCore

@Suite struct ContinueMemoryTests {
    private func origin(_ number: Int) -> Origin { Origin(scheme: .http, host: "h\(number).test", port: 80) }
    private func at(_ seconds: Int) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: Int64(seconds) * 1_000_000_000)
    }

    @Test func anOriginThatIgnoresExpectIsNotAskedForAWhile() {
        var memory = ContinueMemory()
        #expect(memory.mayExpect(origin(1), now: at(0)))
        memory.recordSilence(of: origin(1), now: at(0))
        #expect(!memory.mayExpect(origin(1), now: at(599)) && memory.mayExpect(origin(2), now: at(1)))
        #expect(memory.mayExpect(origin(1), now: at(600)))
    }

    @Test func theNumberOfRememberedOriginsIsBounded() {
        var memory = ContinueMemory()
        for number in 0...ContinueMemory.capacity { memory.recordSilence(of: origin(number), now: at(number)) }
        #expect(memory.mayExpect(origin(0), now: at(300)), "the oldest is forgotten")
        #expect((1...ContinueMemory.capacity).allSatisfy { !memory.mayExpect(origin($0), now: at(300)) })
        memory.recordSilence(of: origin(7), now: at(301))
        #expect((1...ContinueMemory.capacity).allSatisfy { !memory.mayExpect(origin($0), now: at(300)) })
    }
}
