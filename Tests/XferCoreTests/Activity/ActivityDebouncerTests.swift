import Testing
import XferCore
import XferModel
import XferTestSupport

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

    /// Whatever is counted: one is shown for a second of work at least, none for a moment without.
    @Test func anyWorkIsShownByTheRulesAlone() {
        var random = SplitMix64(seed: 9)
        for _ in 0..<200 {
            var activity = ActivityDebouncer()
            var now = 0.0
            var due: MonotonicInstant?
            var (running, busySince, idleSince) = (0, 0.0, 0.0)
            for _ in 0..<60 {
                let next = now + Double.random(in: 0.01...1.2, using: &random)
                if let target = due, target <= at(next) {
                    now = Double(target.nanoseconds) / 1e9
                    #expect(activity.onTimer(at: target) == (running > 0))
                    // Since when the last change of the count has lasted.
                    #expect(running > 0 ? now - busySince > 0.999 : now - idleSince > 0.169)
                    due = nil
                }
                now = next
                let earlier = running
                running = max(0, running + Int.random(in: -2...2, using: &random))
                if earlier == 0, running > 0 { busySince = now }
                if earlier > 0, running == 0 { idleSince = now }
                due = activity.onCount(running, at: at(now))
            }
        }
    }

    @Test func moreJobsDoNotPostponeTheStart() {
        var activity = ActivityDebouncer()
        #expect(activity.onCount(1, at: at(0)) == at(1))
        #expect(activity.onCount(2, at: at(0.9)) == at(1))
    }
}
