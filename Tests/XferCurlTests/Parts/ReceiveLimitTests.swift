import Testing

@testable import XferCurl

/// The rate of an attempt under its own limit and those it shares.
@Suite struct ReceiveLimitTests {
    @Test func theLowerOfOwnLimitAndShareHoldsAndZeroIsUnlimited() {
        #expect(ReceiveLimit(own: 0).rate(sharing: nil) == 0)
        #expect(ReceiveLimit(own: 5).rate(sharing: nil) == 5)
        #expect(ReceiveLimit(own: 0).rate(sharing: 7) == 7)
        #expect(ReceiveLimit(own: 5).rate(sharing: 7) == 5)
        #expect(ReceiveLimit(own: 9).rate(sharing: 7) == 7)
    }
}
