import Testing

@testable import XferCurl

/// Whether a server may have acted on a request that was redirected.
@Suite struct HopHistoryTests {
    @Test func aRedirectWithTheSameMethodShowsThatNoServerActed() {
        var history = HopHistory(requestWasSent: true)
        history.onRedirect(isNewMethod: false, wasSent: true)
        #expect(!history.requestWasSent)
    }

    @Test(arguments: [(true, false), (false, true), (true, true)])
    func aRedirectWithANewMethodKeepsThatARequestWasSent(_ before: Bool, _ now: Bool) {
        var history = HopHistory(requestWasSent: before)
        history.onRedirect(isNewMethod: true, wasSent: now)
        #expect(history.requestWasSent)
    }

    @Test func aRequestThatWasNeverSentStaysUnsent() {
        var history = HopHistory()
        history.onRedirect(isNewMethod: true, wasSent: false)
        #expect(!history.requestWasSent)
    }
}
