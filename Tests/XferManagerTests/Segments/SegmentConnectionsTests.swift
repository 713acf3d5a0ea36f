import Testing
import XferCore
import XferCurl
import XferModel

@testable import XferManager

/// What the end of one connection means for the others and for the round.
@Suite struct SegmentConnectionsTests {
    private typealias Source = SegmentConnections.Source
    private typealias Consequence = SegmentConnections.Consequence

    private static let lost = TransferError(.connectionLost, "the connection broke", isRetriable: true)
    private static let gone = TransferError(.httpStatus, "404", isRetriable: false, httpStatus: 404)
    private static let own = Source()
    private static let mirror = Source(isForeign: true, isAlone: true)
    private static let total: Int64 = 64 << 20

    /// An open round with live connections 0 ..< count.
    private func opened(_ count: Int) -> SegmentConnections {
        var connections = SegmentConnections(plan: nil, maySplit: true)
        connections.onStart(0, at: MonotonicInstant(nanoseconds: 0))
        let body = BodyPlan(offset: 0, end: Self.total, total: Self.total)
        let isPlanned = connections.open(
            0, body, count: count == 1 ? .automatic : .exactly(count), smallest: 1 << 20, isSplittable: true,
            isPart: true)
        #expect(isPlanned && connections.isOpen)
        while let (connection, step) = connections.nextStep() {
            switch step {
            case .fetch: connections.onStart(connection, at: MonotonicInstant(nanoseconds: 0))
            case .split(let other, let offset, let parts):
                connections.onSplit(other, at: offset, parts: parts, isAgreed: true)
            }
        }
        #expect(connections.live.count == count)
        return connections
    }

    /// Ends a connection that has received nothing.
    private func end(
        _ connection: Int, of connections: inout SegmentConnections, failing error: TransferError,
        from source: Source = own, received: Int64 = 0
    ) -> Consequence {
        let wasRetiring = connections.remove(connection)
        return connections.onEnd(
            of: connection, .failed(error), at: 0, received: received, wasRetiring: wasRetiring, from: source)
    }

    @Test func aBodyThatCannotBeSplitHasNoPlanAndNoFurtherConnection() {
        var connections = SegmentConnections(plan: nil, maySplit: true)
        connections.onStart(0, at: MonotonicInstant(nanoseconds: 0))
        let body = BodyPlan(offset: 0, end: Self.total, total: Self.total)
        let isPlanned = connections.open(
            0, body, count: .exactly(4), smallest: 1 << 20, isSplittable: false, isPart: false)
        #expect(!isPlanned && !connections.isOpen && connections.plan == nil)
        #expect(connections.nextStep() == nil)
    }

    @Test func aFailureBesideLiveConnectionsEndsOnlyItsConnection() {
        var connections = opened(4)
        #expect(end(2, of: &connections, failing: Self.lost) == Consequence())
        #expect(connections.verdict == nil)
        #expect(connections.plan?.wantedConnections == 3)
    }

    @Test func aConnectionThatReceivedMuchBeforeItBrokeIsReplaced() {
        var connections = opened(4)
        #expect(end(2, of: &connections, failing: Self.lost, received: 1 << 20) == Consequence())
        #expect(connections.plan?.wantedConnections == 4)
        #expect(connections.nextStep()?.connection == 2)
    }

    /// Else the connection would make the same request over HTTP/2 again, without end.
    @Test func aConnectionThatWantsHTTP1EndsTheRound() throws {
        var connections = opened(2)
        for connection in [1, 0] {
            let wasRetiring = connections.remove(connection)
            let consequence = connections.onEnd(
                of: connection, .restartWithHTTP1, at: 0, received: 0, wasRetiring: wasRetiring, from: Self.own)
            #expect(consequence == Consequence(effect: .stopAll))
            #expect(connections.nextStep() == nil)
        }
        #expect(try connections.roundEnd(isStopRequested: false)?.result == .restartWithHTTP1)
    }

    @Test func aFailureOnThisMachineEndsTheRoundAtOnce() throws {
        var connections = opened(4)
        let full = TransferError(.insufficientSpace, "the disk is full")
        #expect(end(1, of: &connections, failing: full).effect == .stopAll)
        #expect(try connections.verdict?.get() == .failed(full))
        #expect(connections.nextStep() == nil)
    }

    @Test func theFirstVerdictIsKept() throws {
        var connections = opened(2)
        let full = TransferError(.insufficientSpace, "the disk is full")
        _ = end(1, of: &connections, failing: full)
        _ = connections.end(.success(.stopped))
        #expect(try connections.verdict?.get() == .failed(full))
    }

    @Test func afterTheLastOfSeveralOneConnectionIsTriedAloneBeforeTheRoundFails() throws {
        var connections = opened(2)
        _ = end(1, of: &connections, failing: Self.lost)
        #expect(end(0, of: &connections, failing: Self.lost) == Consequence())
        #expect(connections.plan?.wantedConnections == 1)
        let next = connections.nextStep()
        connections.onStart(try #require(next).connection, at: MonotonicInstant(nanoseconds: 0))
        #expect(end(0, of: &connections, failing: Self.lost) == Consequence(effect: .stopAll, isDecisive: true))
        #expect(try connections.roundEnd(isStopRequested: false)?.result == .failed(Self.lost))
    }

    @Test func aMirrorsFailureSetsOnlyThatMirrorAside() {
        var connections = opened(2)
        #expect(end(1, of: &connections, failing: Self.gone, from: Self.mirror).effect == .setAside(Self.gone))
        #expect(connections.plan?.wantedConnections == 2)
        #expect(connections.verdict == nil)
    }

    @Test func aMirrorWithAnotherVersionIsRefusedAndTheOthersContinue() {
        var connections = opened(2)
        _ = connections.remove(1)
        let loss = SegmentConnectionLoss.otherVersion(.rangeIgnored)
        #expect(connections.onEnd(of: 1, loss, from: Self.mirror) == Consequence(effect: .refuse(.rangeIgnored)))
        #expect(connections.verdict == nil)
    }

    @Test func aServerThatIgnoresRangesMakesTheLastConnectionOneStream() {
        var connections = opened(1)
        connections.plan?.onWritten(0, to: 1 << 20)
        _ = connections.remove(0)
        let consequence = connections.onEnd(of: 0, SegmentConnectionLoss.rangeIgnored, from: Self.own)
        #expect(consequence == Consequence(effect: .recount, isDecisive: true))
        #expect(connections.isOneStream && connections.verdict == nil)
        #expect(connections.plan?.wantedConnections == 1)
    }

    @Test func aServerThatIgnoresRangesBeforeTheFirstByteMakesTheTransferStartOver() throws {
        var connections = opened(1)
        _ = connections.remove(0)
        _ = connections.onEnd(of: 0, SegmentConnectionLoss.rangeIgnored, from: Self.own)
        #expect(try connections.roundEnd(isStopRequested: false)?.result == .startOver(.rangeIgnored))
    }

    @Test func anErrorOfThisServiceIsThrownAtTheEndOfTheRound() {
        var connections = opened(2)
        _ = connections.remove(1)
        #expect(connections.onEnd(of: 1, Overtaken(), from: Self.own).effect == .stopAll)
        #expect(throws: Overtaken.self) { try connections.roundEnd(isStopRequested: false) }
    }

    @Test func aRequestToStopEndsTheRoundOnceNoConnectionIsLive() throws {
        let connections = opened(1)
        #expect(try connections.roundEnd(isStopRequested: false) == nil)
        #expect(try connections.roundEnd(isStopRequested: true)?.result == .stopped)
    }
}
