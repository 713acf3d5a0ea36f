import Testing
import XferCore
import XferModel

@Suite struct ActivityDebouncerTests {
    func at(_ seconds: Double) -> MonotonicInstant { MonotonicInstant(nanoseconds: Int64(seconds * 1e9)) }

    @Test func aJobOfLessThanASecondShowsNothing() {
        var activity = ActivityDebouncer()
        #expect(activity.onCount(1, at: at(0)) == at(1))
        #expect(activity.onCount(0, at: at(0.9)) == nil)
        #expect(activity.onTimer(at: at(1)) == nil)
        #expect(!activity.isActive)
    }

    @Test func aLongerJobShowsAfterASecondAndUntilAMomentAfterItsEnd() {
        var activity = ActivityDebouncer()
        _ = activity.onCount(1, at: at(0))
        #expect(activity.onTimer(at: at(0.99)) == nil)
        #expect(activity.onTimer(at: at(1)) == true)
        #expect(activity.onCount(0, at: at(1.1)) == at(1.27))
        #expect(activity.onTimer(at: at(1.26)) == nil)
        #expect(activity.onTimer(at: at(1.27)) == false)
        #expect(activity.onTimer(at: at(9)) == nil)
    }

    @Test func aGapOfATenthOfASecondDoesNotFlap() {
        var activity = ActivityDebouncer()
        _ = activity.onCount(1, at: at(0))
        _ = activity.onTimer(at: at(1))
        _ = activity.onCount(0, at: at(2))
        #expect(activity.onCount(1, at: at(2.1)) == nil)
        #expect(activity.onTimer(at: at(2.17)) == nil)
        #expect(activity.isActive)
    }

    @Test func moreJobsDoNotPostponeTheStart() {
        var activity = ActivityDebouncer()
        #expect(activity.onCount(1, at: at(0)) == at(1))
        #expect(activity.onCount(2, at: at(0.9)) == at(1))
    }
}
