import Testing
import XferCore
import XferModel

@testable import XferManager

/// The head that members of a transfer get.
@Suite struct ResponseStateTests {
    @Test func eachResponseGetsANumberOfItsOwnAndNoneIsReportedAfterItsEnd() {
        var response = ResponseState()
        #expect(response.head == nil)
        let first = response.setHead(ResponseHead(status: 200), from: nil, total: 9, isResumed: false)
        #expect(response.head?.number == first.number)
        response.removeHead()
        #expect(response.head == nil)
        let second = response.setHead(ResponseHead(status: 206), from: nil, total: 9, isResumed: true)
        #expect(second.number != first.number)
        #expect(response.head?.head.status == 206)
    }
}
