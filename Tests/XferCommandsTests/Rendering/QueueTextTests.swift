import Testing
import XferModel
import XferProtocol

@testable import XferCommands

/// The lines of `xferctl queue` and `xferctl limit`.
@Suite struct QueueTextTests {
    private static let text = QueueText(style: Style(isEnabled: false))

    /// The texts after the labels.
    private func values(_ limits: QueueLimits, now: Timestamp = .now) -> [String] {
        Self.text.lines(limits, now: now).map { String($0.dropFirst(13)) }
    }

    @Test func aLimitSaysWhatSetsIt() {
        var limits = QueueLimits(
            maxActive: 3, maxActivePerHost: 4, order: .fifo, rates: BandwidthLimits(receive: 500_000, send: 0))
        #expect(values(limits).suffix(2) == ["488 KiB/s, set by the configuration", "unlimited"])
        limits.overridden = ["max_active", "max_send_rate"]
        #expect(values(limits).first == "3, set by a client (xferctl limit, the page, aria2)")
        #expect(values(limits).last == "unlimited, set by a client (xferctl limit, the page, aria2)")
    }

    @Test func aLimitOfTheTimetableSaysUntilWhen() {
        let now = Timestamp(seconds: 1_767_571_200)
        var limits = QueueLimits(
            maxActive: 3, maxActivePerHost: 4, order: .fifo, rates: BandwidthLimits(receive: 500_000, send: 0))
        limits.timetabled = ["max_recv_rate", "max_send_rate"]
        #expect(values(limits).suffix(2) == ["488 KiB/s, by the timetable", "unlimited, by the timetable"])
        limits.timetableUntil = now
        let end = TimeText.clock(now, now: now)
        #expect(values(limits, now: now).last == "unlimited, by the timetable until \(end)")
    }
}
