import Testing
import XferModel

@testable import XferCommands

@Suite struct WaitTextTests {
    private let now = Timestamp(microseconds: 0)

    @Test func aWaitIsPrintedWithItsStatusCodeOrItsCauseInWords() {
        let status = TaskSummary.Failure(reason: "http_status", message: "a:80 answered 503 (Service Unavailable)")
        let text = WaitText.sentence(
            reason: "retry", until: now.advanced(by: .seconds(3)), failure: status, now: now)
        #expect(text == "next try in 3s after a:80 answered 503 (Service Unavailable)")
        let lost = TaskSummary.Failure(reason: "connection_lost", message: "long story")
        #expect(
            WaitText.sentence(reason: "retry", until: nil, failure: lost, now: now)
                == "next try soon after connection lost")
    }
}
