import Testing
import XferModel

@testable import XferManager

@Suite struct FailureLogLimitTests {
    private let start = MonotonicInstant(seconds: 100, nanoseconds: 0)

    @Test func aMinuteTakesSoManyFailuresAndCountsTheRest() {
        var limit = FailureLogLimit()
        for number in 1...FailureLogLimit.perWindow {
            let isAdmitted = limit.admit(at: start)
            #expect(isAdmitted && limit.isUsedUp == (number == FailureLogLimit.perWindow))
        }
        for number in 1...3 {
            let isAdmitted = limit.admit(at: start.advanced(by: .seconds(59)))
            #expect(!isAdmitted && limit.lastCount == number && !limit.isUsedUp)
        }
    }

    @Test func theNextMinuteBeginsAnew() {
        var limit = FailureLogLimit()
        for _ in 0...FailureLogLimit.perWindow { _ = limit.admit(at: start) }
        #expect(limit.lastCount == 1)
        let isAdmitted = limit.admit(at: start.advanced(by: .seconds(60)))
        #expect(isAdmitted && limit.isNew && limit.lastCount == 0)
    }
}
