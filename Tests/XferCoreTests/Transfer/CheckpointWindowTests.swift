import Testing
import XferCore
import XferModel
import XferTestSupport

@Suite struct CheckpointWindowTests {
    private let mebibyte: Int64 = 1 << 20

    private func at(_ milliseconds: Int64) -> MonotonicInstant {
        MonotonicInstant(nanoseconds: milliseconds * 1_000_000)
    }

    @Test func aCheckpointIsDueAfterEightMebibytes() {
        var window = CheckpointWindow(limits: .init(), offset: 0)
        #expect(window.onWritten(to: 8 * mebibyte - 1, now: at(0)).dueOffset == nil)
        #expect(window.onWritten(to: 8 * mebibyte, now: at(1)).dueOffset == 8 * mebibyte)
        // One at a time.
        #expect(window.onWritten(to: 9 * mebibyte, now: at(2)).dueOffset == nil)
    }

    @Test func aCheckpointIsDueAfterASecondOfUnsavedBytes() {
        var window = CheckpointWindow(limits: .init(), offset: 100)
        #expect(window.deadline == nil)
        #expect(window.onWritten(to: 101, now: at(500)).dueOffset == nil)
        #expect(window.deadline == at(1500))
        #expect(window.onTime(at(1499)).dueOffset == nil)
        #expect(window.onTime(at(1500)).dueOffset == 101)
    }

    @Test func checkpointsOfManySlowTransfersAreDueTogether() {
        for milliseconds in 1...125 as ClosedRange<Int64> {
            var window = CheckpointWindow(limits: .init(), offset: 0)
            _ = window.onWritten(to: 1, now: at(milliseconds))
            #expect(window.deadline == at(1125))
            #expect(window.onTime(at(1124)) == .init(dueOffset: nil, isPaused: false))
            #expect(window.onTime(at(1125)) == .init(dueOffset: 1, isPaused: false))
        }
    }

    @Test func readingPausesBeforeSixteenUnsavedMebibytesAndContinues() {
        var window = CheckpointWindow(limits: .init(), offset: 0)
        #expect(window.onWritten(to: 8 * mebibyte, now: at(0)) == .init(dueOffset: 8 * mebibyte, isPaused: false))
        var offset = 8 * mebibyte
        var action = CheckpointWindow.Action(dueOffset: nil, isPaused: false)
        while !action.isPaused {
            offset += 64 << 10
            action = window.onWritten(to: offset, now: at(1))
        }
        #expect(offset <= 16 * mebibyte)
        #expect(offset > 15 * mebibyte)
        // What was written meanwhile is less than the next due: reading goes on.
        #expect(window.onCommitted(8 * mebibyte, now: at(2)) == .init(dueOffset: nil, isPaused: false))
        #expect(window.onWritten(to: offset + mebibyte, now: at(3)).dueOffset == offset + mebibyte)
    }

    @Test func readingPausesWhenTheOldestUnsavedBytesAreTwoSecondsOld() {
        var window = CheckpointWindow(limits: .init(), offset: 0)
        _ = window.onWritten(to: 10, now: at(0))
        #expect(window.onTime(at(1000)) == .init(dueOffset: 10, isPaused: false))
        _ = window.onWritten(to: 20, now: at(1500))
        #expect(window.deadline == at(2000))
        #expect(window.onTime(at(2000)).isPaused)
        #expect(window.deadline == nil)
        // The bytes after the checkpoint are from 1.5 s on, so the next is due at 2.5 s.
        #expect(window.onCommitted(10, now: at(2200)) == .init(dueOffset: nil, isPaused: false))
        #expect(window.deadline == at(2500))
        #expect(window.onCommitted(20, now: at(2300)) == .init(dueOffset: nil, isPaused: false))
        #expect(window.deadline == nil)
    }

    @Test func invalidCommitsChangeNothing() {
        var window = CheckpointWindow(limits: .init(), offset: 100)
        _ = window.onWritten(to: 200, now: at(0))
        #expect(window.onCommitted(50, now: at(1)).dueOffset == nil)
        #expect(window.onCommitted(300, now: at(1)).dueOffset == nil)
        #expect(window.deadline == at(1000))
    }

    @Test func unsavedBytesStayWithinTheLimitAndReadingNeverBlocksForever() {
        var random = SplitMix64(seed: 7)
        for _ in 0..<300 {
            let limits = CheckpointWindow.Limits(dueBytes: 1 << 20, pauseBytes: 2 << 20)
            var window = CheckpointWindow(limits: limits, offset: 0)
            var (written, committed, now) = (Int64(0), Int64(0), Int64(0))
            var due: Int64?
            var isPaused = false
            for _ in 0..<400 {
                now += Int64.random(in: 0...300, using: &random)
                let action: CheckpointWindow.Action
                if let pending = due, isPaused || random.chance(0.2) {
                    committed = pending
                    due = nil
                    action = window.onCommitted(pending, now: at(now))
                } else if isPaused {
                    Issue.record("paused with nothing to wait for")
                    return
                } else {
                    written += Int64.random(in: 1...(64 << 10), using: &random)
                    action = window.onWritten(to: written, now: at(now))
                }
                if let offset = action.dueOffset {
                    #expect(due == nil)
                    due = offset
                }
                isPaused = action.isPaused
                #expect(written - committed <= limits.pauseBytes)
            }
        }
    }

    /// Pairs of bytes.
    private static let readSizes: [(Int, Int)] = [
        (65_536, 65_536), (4_194_304, 65_536), (8_388_608, 131_072), (16_777_216, 245_760), (1_073_741_824, 245_760),
    ]

    @Test(arguments: readSizes)
    func theReadSizeIsSmallBesideTheLimitOfUnsavedBytes(pauseBytes: Int, readSize: Int) {
        let limits = CheckpointWindow.Limits(dueBytes: 1, pauseBytes: Int64(pauseBytes))
        #expect(limits.readSize(isShared: false) == readSize)
        // One read more than what it pauses at is still within the limit.
        var window = CheckpointWindow(limits: limits, offset: 0)
        var offset: Int64 = 0
        while !window.onWritten(to: offset, now: at(0)).isPaused { offset += 16 << 10 }
        #expect(offset == 16 << 10 || offset + Int64(readSize) <= Int64(pauseBytes))
    }

    // MARK: Several requests for one body

    @Test func unsavedBytesOfOtherConnectionsCountTowardsTheLimits() {
        let limits = CheckpointWindow.Limits(dueBytes: 8 << 20, pauseBytes: 16 << 20)
        let now = MonotonicInstant(nanoseconds: 0)
        var window = CheckpointWindow(limits: limits, offset: 0)
        func beside(_ mebibytes: Int64, areSaved: Bool = false) -> CheckpointWindow.Neighbours {
            CheckpointWindow.Neighbours(count: 7, unsynced: mebibytes << 20, areSaved: areSaved)
        }
        #expect(window.onWritten(to: 1 << 20, now: now, beside: beside(6)).dueOffset == nil)
        #expect(window.onWritten(to: 2 << 20, now: now, beside: beside(6, areSaved: true)).dueOffset == nil)
        let full = window.onWritten(to: 3 << 20, now: now, beside: beside(13, areSaved: true))
        #expect(
            full == CheckpointWindow.Action(dueOffset: nil, isPaused: true), "though others asked for the checkpoint")
        #expect(window.deadline == now.advanced(by: limits.dueAfter), "their failing does not stop it for ever")
        #expect(!window.onCommitted(3 << 20, now: now, beside: beside(13)).isPaused, "it has nothing at stake itself")
        #expect(window.onWritten(to: 4 << 20, now: now, beside: beside(7)).dueOffset == 4 << 20)
    }
}
