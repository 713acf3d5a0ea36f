import Testing
import XferModel

@testable import XferManager

@Suite struct FailureLogLimitTests {
    private let start = MonotonicInstant(seconds: 100, nanoseconds: 0)

    @Test func aMinuteTakesSoManyFailuresAndCountsTheRest() {
        var limit = FailureLogLimit()
        for number in 1...FailureLogLimit.perWindow {
            #expect(limit.admit(at: start))
            #expect(limit.isUsedUp == (number == FailureLogLimit.perWindow))
        }
        for _ in 0..<3 { #expect(!limit.admit(at: start.advanced(by: .seconds(59)))) }
        #expect(limit.lastCount == 3 && !limit.isUsedUp)
    }

    @Test func theNextMinuteBeginsAnew() {
        var limit = FailureLogLimit()
        for _ in 0...FailureLogLimit.perWindow { _ = limit.admit(at: start) }
        #expect(limit.lastCount == 1)
        #expect(limit.admit(at: start.advanced(by: .seconds(60))))
        #expect(limit.isNew && limit.lastCount == 0)
    }
}
