import Testing
import XferModel

@testable import XferCore

@Suite struct SegmentPlanTests {
    private static let mebibyte: Int64 = 1 << 20

    private func at(_ seconds: Double) -> MonotonicInstant { MonotonicInstant(nanoseconds: Int64(seconds * 1e9)) }

    private func plan(_ mebibytes: Int64, kept: [Segment] = [], _ count: Int) -> SegmentPlan {
        SegmentPlan(total: mebibytes << 20, kept: kept, count: .exactly(count))
    }

    /// Gives every connection something to do; the splits are agreed to.
    private func fill(_ plan: inout SegmentPlan, connections: Range<Int>) -> [Int: Segment] {
        var given: [Int: Segment] = [:]
        for connection in connections {
            while let step = plan.next(for: connection, idle: connections.upperBound - connection) {
                guard case .split(let victim, let offset, let parts) = step else {
                    if case .fetch(let segment) = step { given[connection] = segment }
                    plan.onAnswer(connection)
                    break
                }
                plan.onSplit(victim, at: offset, parts: parts, isAgreed: true)
            }
        }
        return given
    }

    /// Also when the first connection had a burst before the others began: they will have theirs.
    @Test(arguments: [0, 1 << 20, 3_000_001])
    func aNewDownloadIsDividedEvenlyOnceTheServerHasSentItsRear(_ written: Int64) {
        var plan = plan(64, 8)
        plan.begin(0)
        plan.onWritten(0, to: written)
        #expect(plan.next(for: 1, idle: 7) == .split(0, at: 56 << 20, parts: 2))
        plan.onSplit(0, at: 56 << 20, parts: 2, isAgreed: true)
        #expect(plan.next(for: 1, idle: 7) == .fetch(Segment(start: 56 << 20, end: 64 << 20, committed: 56 << 20)))
        #expect(plan.next(for: 2, idle: 6) == nil)
        plan.onAnswer(1)
        let given = fill(&plan, connections: 2..<8)
        #expect(given.count == 6)
        for connection in 2..<8 {
            let start = Int64(connection - 1) << 23
            #expect(given[connection] == Segment(start: start, end: start + (8 << 20), committed: start))
        }
    }

    @Test(arguments: [1, 1 << 20, (2 << 20) - 1]) func aSmallFileIsNotSplit(_ length: Int64) {
        var plan = SegmentPlan(total: length, count: .exactly(16))
        plan.begin(0)
        #expect(plan.next(for: 1, idle: 15) == nil)
    }

    @Test func noPieceIsSmallerThanTheSmallest() {
        var plan = SegmentPlan(total: 5 << 20, count: .exactly(16))
        plan.begin(0)
        let given = fill(&plan, connections: 1..<16)
        #expect(given.count == 4)
        #expect(plan.pieces.allSatisfy { $0.end - $0.start >= Self.mebibyte })
    }

    @Test func keptSegmentsAndTheirHolesAreContinued() {
        var plan = plan(
            8,
            kept: [
                Segment(start: 0, end: 1 << 20, committed: 100),
                Segment(start: 2 << 20, end: 4 << 20, committed: 4 << 20),
                Segment(start: 5 << 20, end: nil, committed: 6 << 20),
            ], 4)
        #expect(plan.committedByteCount == 100 + (3 << 20))
        var asked: [Segment] = []
        for connection in 0..<4 {
            guard case .fetch(let segment)? = plan.next(for: connection, idle: 4 - connection) else { continue }
            asked.append(segment)
        }
        #expect(
            asked == [
                Segment(start: 0, end: 1 << 20, committed: 100),
                Segment(start: 1 << 20, end: 2 << 20, committed: 1 << 20),
                Segment(start: 4 << 20, end: 5 << 20, committed: 4 << 20),
                Segment(start: 5 << 20, end: 8 << 20, committed: 6 << 20),
            ])
    }

    @Test func keptSegmentsThatOverlapOrReachTooFarCountForTheBytesTheyCover() {
        let plan = SegmentPlan(
            total: 1000,
            kept: [
                Segment(start: 0, end: 500, committed: 300), Segment(start: 100, end: 400, committed: 200),
                Segment(start: 250, end: 900, committed: 5000),
            ], count: .one)
        #expect(plan.isWritten)
        #expect(plan.writtenByteCount == 1000)
    }

    @Test func theSlowestConnectionLosesItsRear() {
        var plan = plan(64, 2)
        plan.begin(0)
        _ = fill(&plan, connections: 1..<2)
        // The first gets 10 MiB/s, the second 1.
        for second in 0...2 {
            plan.onWritten(0, to: Int64(second * 10) << 20)
            plan.onWritten(1, to: Int64(32 + second) << 20)
            _ = plan.measure(at(Double(second)))
        }
        plan.onEnd(0, at: 32 << 20)
        guard case .split(1, let offset, 2)? = plan.next(for: 0, idle: 1) else {
            Issue.record("\(plan)")
            return
        }
        // Both are to end at about the same time: the slow one keeps the smaller part.
        #expect(offset < (42 << 20))
        #expect(offset >= 35 << 20)
    }

    /// Two connections; the second has the last `rest` bytes and gets `rate` bytes per second, measured for `seconds`.
    private func laggingPlan(rest: Int64, rate: Int64, seconds: Int) -> SegmentPlan {
        var plan = plan(4, 2)
        plan.begin(0)
        _ = fill(&plan, connections: 1..<2)
        plan.onWritten(1, to: (4 << 20) - rest - rate * Int64(seconds))
        for second in 0...seconds {
            plan.onWritten(0, to: Int64(second) << 18)
            plan.onWritten(1, to: (4 << 20) - rest - rate * Int64(seconds - second))
            _ = plan.measure(at(Double(second)))
        }
        plan.onEnd(0, at: 2 << 20)
        return plan
    }

    @Test func aConnectionFarBelowTheOthersGivesBackAPieceTooSmallToDivide() {
        var plan = laggingPlan(rest: 100_000, rate: 10, seconds: 4)
        #expect(plan.next(for: 0, idle: 1) == nil)
        #expect(plan.removeLaggard() == 1)
        plan.onEnd(1, at: (4 << 20) - 99_000)
        #expect(
            plan.next(for: 0, idle: 2)
                == .fetch(Segment(start: 2 << 20, end: 4 << 20, committed: (4 << 20) - 99_000)))
    }

    @Test(arguments: [
        // It is soon done.
        (rest: 70, rate: 10, seconds: 4),
        // It is slower, but not far below.
        (rest: 2_000_000, rate: 64_000, seconds: 4),
        // It has just begun.
        (rest: 100_000, rate: 10, seconds: 3),
    ])
    func otherConnectionsKeepTheirPieces(rest: Int64, rate: Int64, seconds: Int) {
        var plan = laggingPlan(rest: rest, rate: rate, seconds: seconds)
        #expect(plan.removeLaggard() == nil)
    }

    /// The other connection was done before it could be measured.
    @Test(arguments: [(nil, nil), (79.0, nil), (81.0, 1)] as [(Double?, Int?)])
    func aConnectionIsALaggardBesideOneThatHasEnded(_ ended: Double?, _ laggard: Int?) {
        var plan = plan(4, 2)
        plan.begin(0)
        _ = fill(&plan, connections: 1..<2)
        plan.onEnd(0, at: 2 << 20)
        for second in 0...4 {
            plan.onWritten(1, to: (4 << 20) - 1000 + Int64(second) * 10)
            _ = plan.measure(at(Double(second)))
        }
        #expect(plan.removeLaggard(ended: ended) == laggard)
    }

    @Test func aConnectionAloneIsNoLaggard() {
        var plan = plan(4, 1)
        plan.begin(0)
        for second in 0...9 {
            plan.onWritten(0, to: Int64(second))
            _ = plan.measure(at(Double(second)))
        }
        #expect(plan.removeLaggard() == nil)
    }

    @Test func aConnectionBeyondTheOffsetIsNotSplitAgain() {
        var plan = plan(4, 2)
        plan.begin(0)
        plan.onAnswer(0)
        guard case .split(0, let offset, let parts)? = plan.next(for: 1, idle: 1) else {
            Issue.record("no split")
            return
        }
        plan.onSplit(0, at: offset, parts: parts, isAgreed: false)
        #expect(plan.next(for: 1, idle: 1) == nil)
        // Its request broke off: any connection may take the rest.
        plan.onEnd(0, at: 1 << 20)
        #expect(plan.next(for: 1, idle: 2) == .fetch(Segment(start: 0, end: 4 << 20, committed: 1 << 20)))
    }

    @Test func ifTheServerRefusesMoreConnectionsOneContinuesOverUnbegunSegments() {
        var plan = plan(64, 4)
        plan.begin(0)
        plan.onAnswer(0)
        _ = fill(&plan, connections: 1..<4)
        #expect(plan.widening() == nil)
        for connection in 1..<4 { plan.onEnd(connection, at: 0) }
        plan.limit(to: 1)
        #expect(plan.wantedConnections == 1)
        let widening = plan.widening()
        #expect(widening?.connection == 0 && widening?.end == 64 << 20)
        plan.onExtend(0, to: 64 << 20, isAgreed: true)
        #expect(plan.pieces.count == 1)
        plan.onWritten(0, to: 64 << 20)
        #expect(plan.isWritten)
    }

    @Test func begunSegmentsAreNotOverrun() {
        var plan = plan(64, 4)
        plan.begin(0)
        plan.onAnswer(0)
        _ = fill(&plan, connections: 1..<4)
        plan.onEnd(1, at: 17 << 20)
        plan.onEnd(2, at: 32 << 20)
        #expect(plan.widening() == nil)
    }

    @Test func aSingleStreamBeginsAtTheFirstGap() {
        var plan = plan(64, 4)
        plan.begin(0)
        plan.onAnswer(0)
        _ = fill(&plan, connections: 1..<4)
        plan.onEnd(0, at: 5 << 20)
        plan.onEnd(1, at: 20 << 20)
        plan.onEnd(2, at: 0)
        plan.onEnd(3, at: 0)
        plan.onDurable(plan.writtenSegments)
        plan.collapse()
        #expect(plan.next(for: 0, idle: 1) == .fetch(Segment(start: 0, end: 64 << 20, committed: 5 << 20)))
        #expect(plan.committedByteCount == 5 << 20)
        #expect(plan.wantedConnections == 1)
    }

    /// The durable bytes behind the stream are kept until it has written over them, and never counted twice.
    @Test func durableBytesBehindASingleStreamAreKept() {
        var plan = SegmentPlan(
            total: 64 << 20,
            kept: [
                Segment(start: 0, end: 16 << 20, committed: 5 << 20),
                Segment(start: 16 << 20, end: 32 << 20, committed: 20 << 20),
                Segment(start: 48 << 20, end: 64 << 20, committed: 49 << 20),
            ], count: .exactly(4))
        plan.collapse()
        _ = plan.next(for: 0, idle: 1)
        func committed(_ count: Int64) -> Int64 {
            plan.onWritten(0, to: count << 20)
            let segments = plan.writtenSegments
            plan.onDurable(segments)
            #expect(zip(segments, segments.dropFirst()).allSatisfy { $0.committed < $1.start && $0.end == $1.start })
            #expect(SegmentPlan(total: 64 << 20, kept: segments, count: .one).writtenSegments == segments)
            return segments.reduce(0) { $0 + $1.committed - $1.start } >> 20
        }
        let steps: [Int64] = [5, 15, 16, 17, 20, 21, 47, 48, 49, 50, 63]
        #expect(steps.map(committed) == [10, 20, 21, 21, 21, 22, 48, 49, 49, 50, 63])
        #expect(committed(64) == 64)
        #expect(plan.isWritten)
    }

    /// Their checkpoint may be under way.
    @Test func writtenBytesBehindASingleStreamAreKeptBeforeTheyAreDurable() {
        var plan = plan(64, 4)
        plan.begin(0)
        plan.onAnswer(0)
        _ = fill(&plan, connections: 1..<4)
        plan.onWritten(1, to: 20 << 20)
        let checkpoint = plan.writtenSegments
        plan.onEnd(0, at: 5 << 20)
        plan.onEnd(1, at: 20 << 20)
        plan.onEnd(2, at: 0)
        plan.onEnd(3, at: 0)
        plan.collapse()
        plan.onDurable(checkpoint)
        let kept = [
            Segment(start: 0, end: 16 << 20, committed: 5 << 20),
            Segment(start: 16 << 20, end: 64 << 20, committed: 20 << 20),
        ]
        #expect(plan.writtenSegments == kept)
        // Once more in the same round, also in the middle of them.
        plan.collapse()
        #expect(plan.writtenSegments == kept)
        _ = plan.next(for: 0, idle: 1)
        plan.onEnd(0, at: 18 << 20)
        plan.collapse()
        #expect(plan.writtenSegments == [Segment(start: 0, end: 64 << 20, committed: 20 << 20)])
    }

    @Test func writtenBytesAreDescribedByFewSegments() {
        var plan = plan(64, 4)
        plan.begin(0)
        plan.onAnswer(0)
        _ = fill(&plan, connections: 1..<4)
        #expect(plan.writtenSegments == [])
        plan.onWritten(0, to: 16 << 20)
        plan.onWritten(1, to: 20 << 20)
        plan.onWritten(3, to: 49 << 20)
        #expect(
            plan.writtenSegments == [
                Segment(start: 0, end: 32 << 20, committed: 20 << 20),
                Segment(start: 48 << 20, end: 64 << 20, committed: 49 << 20),
            ])
        #expect(plan.committedByteCount == 0)
        plan.onDurable(plan.writtenSegments)
        #expect(plan.committedByteCount == 21 << 20)
        #expect(plan.committed(of: 1) == 20 << 20)
    }

    @Test func offsetsOfUnknownConnectionsAreIgnored() {
        var plan = plan(64, 2)
        plan.begin(0)
        _ = fill(&plan, connections: 1..<2)
        plan.onWritten(0, to: 40 << 20)
        plan.onWritten(1, to: 3)
        plan.onWritten(7, to: 50 << 20)
        #expect(plan.writtenByteCount == 0)
    }

    // MARK: auto

    private func grow(_ rates: [Int: Double], mebibytes: Int64) -> [Int] {
        var plan = SegmentPlan(total: mebibytes << 20, count: .automatic)
        plan.begin(0)
        var working: Set<Int> = [0]
        var offsets: [Int: Int64] = [0: 0]
        var seen = [plan.wantedConnections]
        for tick in 1...1000 {
            let share = rates[working.count, default: 0] / Double(working.count) / 10 * Double(1 << 20)
            for connection in working.sorted() {
                guard let piece = plan.pieces.first(where: { $0.connection == connection }) else { continue }
                let offset = min(piece.end, offsets[connection, default: 0] + Int64(share))
                offsets[connection] = offset
                plan.onWritten(connection, to: offset)
                guard offset == piece.end else { continue }
                plan.onEnd(connection, at: offset)
                working.remove(connection)
            }
            if plan.measure(at(Double(tick) / 10)) {
                seen.append(plan.wantedConnections)
                for connection in plan.surplus {
                    plan.onEnd(connection, at: offsets[connection, default: 0])
                    working.remove(connection)
                }
            }
            for connection in 0..<plan.wantedConnections
            where !working.contains(connection) && working.count < plan.wantedConnections {
                while case .split(let victim, let offset, let parts)? = plan.next(
                    for: connection, idle: plan.wantedConnections - connection)
                { plan.onSplit(victim, at: offset, parts: parts, isAgreed: true) }
                guard let piece = plan.pieces.first(where: { $0.connection == connection }) else { continue }
                plan.onAnswer(connection)
                offsets[connection] = piece.written
                working.insert(connection)
            }
        }
        return seen
    }

    @Test func automaticGrowthDoublesWhileItHelps() {
        #expect(grow([1: 1, 2: 2, 4: 4, 8: 8], mebibytes: 200) == [1, 2, 4, 8])
    }

    @Test func automaticGrowthClosesConnectionsThatDoNotHelp() {
        #expect(grow([1: 10, 2: 10, 4: 10], mebibytes: 300) == [1, 2, 1])
        #expect(grow([1: 5, 2: 10, 4: 10], mebibytes: 300) == [1, 2, 4, 2])
        #expect(grow([1: 10, 2: 20, 4: 15], mebibytes: 300) == [1, 2, 4, 2])
    }

    @Test func connectionsThatBringNothingEndWithTheirPiecesAndThoseThatSlowAreClosed() {
        func surplus(after rate: Int64) -> Int {
            var plan = SegmentPlan(total: 2900 << 20, count: .automatic)
            plan.begin(0)
            _ = plan.measure(at(0))
            plan.onWritten(0, to: 1)
            _ = plan.measure(at(0))
            plan.onWritten(0, to: 50 << 20)
            _ = plan.measure(at(0.5))
            plan.onWritten(0, to: 100 << 20)
            let isMore = plan.measure(at(1))
            #expect(isMore && plan.wantedConnections == 2)
            var segment = fill(&plan, connections: 1..<2)[1]
            plan.onWritten(0, to: 100 << 20 | 1)
            plan.onWritten(1, to: (segment?.start ?? 0) + 1)
            _ = plan.measure(at(2))
            for _ in 0..<8 {
                plan.onEnd(1, at: segment?.end ?? 0)
                segment = fill(&plan, connections: 1..<2)[1]
            }
            plan.onWritten(0, to: (100 + rate / 2) << 20)
            _ = plan.measure(at(2.5))
            plan.onEnd(1, at: segment?.end ?? 0)
            // By now it was fast enough for a larger piece.
            _ = fill(&plan, connections: 1..<2)
            plan.onWritten(0, to: (100 + rate) << 20)
            _ = plan.measure(at(3))
            #expect(plan.wantedConnections == 1)
            return plan.surplus.count
        }
        #expect(surplus(after: 100) == 0)
        #expect(surplus(after: 80) == 0)
        #expect(surplus(after: 60) == 1)
    }

    @Test func automaticGrowthGoesBackNearTheEndToo() {
        #expect(grow([1: 10, 2: 10], mebibytes: 100) == [1, 2, 1])
    }

    @Test func connectionsUnderTestGetSmallPiecesOfTheRear() {
        var plan = SegmentPlan(total: 300 << 20, count: .automatic)
        plan.begin(0)
        for (second, mebibytes) in [(0.0, 0.25), (0.5, 5.25), (1, 10.25)] {
            plan.onWritten(0, to: Int64(mebibytes * Double(1 << 20)))
            _ = plan.measure(at(second))
        }
        #expect(plan.wantedConnections == 2)
        // A quarter of the smallest piece, until its rate is known.
        #expect(plan.next(for: 1, idle: 1) == .split(0, at: (300 << 20) - (256 << 10), parts: 2))
    }

    @Test(arguments: [1, 200]) func aPieceThatEndsBeforeAnotherConnectionIsFastIsNotSplit(_ roundTrip: Int) {
        var plan = plan(64, 2)
        plan.begin(0)
        plan.onAnswer(0)
        plan.onRoundTrip(.milliseconds(roundTrip))
        _ = plan.measure(at(0))
        plan.onWritten(0, to: 40 << 20)
        _ = plan.measure(at(1))
        // 40 MiB a second: 0.6 s are left.
        #expect((plan.next(for: 1, idle: 1) == nil) == (roundTrip == 200))
    }

    @Test func surplusConnectionsAreTheLastWithMuchLeft() {
        var plan = plan(64, 4)
        plan.begin(0)
        _ = fill(&plan, connections: 1..<4)
        #expect(plan.surplus.isEmpty)
        plan.limit(to: 2)
        let rear = plan.pieces.filter { $0.connection != nil }.suffix(2)
        #expect(plan.surplus == rear.compactMap(\.connection))
        guard let last = rear.last, let connection = last.connection else { return }
        plan.onWritten(connection, to: last.end - (1 << 20))
        #expect(plan.surplus == rear.dropLast().compactMap(\.connection))
    }

    @Test func automaticGrowthLeavesAShortDownloadAlone() {
        #expect(grow([1: 10], mebibytes: 30) == [1])
    }

    @Test func aLimitEndsTheGrowth() {
        var plan = SegmentPlan(total: 4000 << 20, count: .automatic)
        plan.begin(0)
        plan.limit(to: 1)
        for tick in 1...50 {
            plan.onWritten(0, to: Int64(tick) << 20)
            let isMore = plan.measure(at(Double(tick)))
            #expect(!isMore)
        }
    }
}
