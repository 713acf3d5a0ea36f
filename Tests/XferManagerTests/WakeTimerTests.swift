import Testing
import XferModel
import XferTestSupport

@testable import XferManager

@Suite struct WakeTimerTests {
    private let now = Timestamp(microseconds: 1_000_000_000)

    @Test func theTimerFiresAtItsTarget() async {
        let fired = Gate()
        var timer = WakeTimer()
        let target = now.advanced(by: .milliseconds(5))
        timer.arm(for: target, now: now) { found in
            #expect(found == target)
            await fired.wait()
        }
        await fired.arrived()
        fired.open()
    }

    @Test func aNewTargetReplacesTheOldOne() async {
        let fired = Gate()
        fired.open()
        var timer = WakeTimer()
        timer.arm(for: now.advanced(by: .milliseconds(50)), now: now) { _ in Issue.record("fired for the old target") }
        timer.arm(for: now, now: now) { _ in await fired.wait() }
        await fired.arrived()
        timer.onFired()
        // The old target's time passes.
        timer.arm(for: now.advanced(by: .milliseconds(150)), now: now) { _ in await fired.wait() }
        await fired.arrived(2)
    }

    /// A target that has passed by the wall clock fires at once.
    @Test func aPassedTargetFiresAtOnce() async {
        let fired = Gate()
        var timer = WakeTimer()
        timer.arm(for: now.advanced(by: .seconds(-60)), now: now) { _ in await fired.wait() }
        await fired.arrived()
        fired.open()
    }

    @Test func theTimerFiresAgainForTheSameTarget() async {
        let fired = Gate()
        fired.open()
        var timer = WakeTimer()
        timer.arm(for: now, now: now) { _ in await fired.wait() }
        await fired.arrived()
        timer.onFired()
        timer.arm(for: now, now: now) { _ in await fired.wait() }
        await fired.arrived(2)
    }
}
