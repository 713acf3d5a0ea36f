import Testing
import XferCore
import XferModel

@testable import XferManager

/// What a transfer does after a run.
@Suite struct DeliveryTests {
    private typealias Delivery = SharedTransfer.Delivery

    @Test func aMemberThatJoinsWhileTheRunIsBeingStoppedGetsAnotherRun() {
        #expect(Delivery.left.successor(wasAskedToStop: true, hasMembers: true) == .again)
        #expect(Delivery.left.successor(wasAskedToStop: true, hasMembers: false) == .idle)
        #expect(Delivery.left.successor(wasAskedToStop: false, hasMembers: true) == .idle)
    }

    @Test func aConfirmationLeavesMembersWithOtherConditionsToAnotherRun() {
        let now = Timestamp(seconds: 0)
        let confirmed = Delivery.notModified(
            Confirmation(
                head: ResponseHead(status: 304),
                url: HTTPURL(scheme: .https, host: "a.example", port: 443, target: "/"),
                times: ExchangeTimes(requested: now, answered: now)))
        #expect(confirmed.successor(wasAskedToStop: false, hasMembers: true) == .again)
        #expect(confirmed.successor(wasAskedToStop: false, hasMembers: false) == .idle)
    }

    @Test(arguments: [true, false]) func aFailureEndsAllMembersEvenIfTheRunWasAskedToStop(_ wasAskedToStop: Bool) {
        let failed = Delivery.failed(TransferError(.connectionLost, "the connection broke"))
        #expect(failed.successor(wasAskedToStop: wasAskedToStop, hasMembers: true) == .failed)
    }
}
