import Testing
import XferModel

@testable import XferCommands

@Suite struct WaitTextTests {
    private let now = Timestamp(microseconds: 0)

    @Test func aWaitIsPrintedWithItsStatusCodeOrItsCauseInWords() {
        let status = TaskSummary.Failure(reason: "http_status", message: "a:80 answered 503 (Service Unavailable)")
        var task = TaskSummary(id: 1, name: "a", state: "waiting", waitReason: "retry", failure: status)
        task.waitUntil = now.advanced(by: .seconds(3))
        #expect(
            WaitText.sentence(task, now: now) == "next try in 3s after a:80 answered 503 (Service Unavailable)")
        let lost = TaskSummary.Failure(reason: "connection_lost", message: "long story")
        (task.waitUntil, task.failure) = (nil, lost)
        #expect(WaitText.sentence(task, now: now) == "next try soon after connection lost")
    }

    @Test func aTaskThatNoNodeTakesSaysWhyIfNodesHaveSaidSo() {
        var task = TaskSummary(id: 1, name: "a", state: "queued", waitReason: "no_node")
        #expect(WaitText.sentence(task, now: now) == "for a node that may take it; `xferctl fleet nodes` lists them")
        task.waitDetail = "node a: /x is beneath no root\u{1B}[31m"
        #expect(
            WaitText.sentence(task, now: now)?.hasPrefix("every node declines it: node a: /x is beneath no root")
                == true)
        #expect(WaitText.sentence(task, now: now)?.contains("\u{1B}") == false)
        task.waitReason = nil
        #expect(WaitText.sentence(task, now: now) == nil)
    }

    @Test func aCauseIsTheMessageWithoutTheHostAndWithoutTheLibrarysNotation() {
        let tls = TaskSummary.Failure(
            reason: "connect_failed",
            message: "a:443: OpenSSL/3.0.19: error:0A00010B:SSL routines::wrong version number", host: "a:443")
        #expect(FailureText.cause(tls) == "TLS: wrong version number")
        #expect(OutcomeText(style: .plain).reason(tls) == "a:443: TLS: wrong version number (connect_failed)")
        let newer = TaskSummary.Failure(
            reason: "connect_failed", message: "TLS connect error: error:0A00010B:SSL routines::wrong version number")
        #expect(FailureText.cause(newer) == "TLS: wrong version number")
        let refused = TaskSummary.Failure(
            reason: "connect_failed",
            message: "a:1: Failed to connect to a port 1 after 0 ms: Couldn't connect to server", host: "a:1")
        #expect(FailureText.cause(refused) == "Couldn't connect to server")
        let status = TaskSummary.Failure(reason: "http_status", message: "a:1 answered 404 (Not Found)", host: "a:1")
        #expect(FailureText.cause(status) == "404 (Not Found)")
    }

    @Test(arguments: [
        (404, "when the server has the file again"), (405, "Check the method (-X)"), (403, "-u USER"),
        (503, "The server has a problem of its own"), (nil, "when the server has the file again"),
    ])
    func theAdviceFitsTheStatus(status: Int?, text: String) throws {
        let failure = TaskSummary.Failure(reason: "http_status", message: "answered", httpStatus: status)
        #expect(try #require(FailureAdvice.sentence(failure, id: 7)).contains(text))
    }

    @Test func theAdviceOnAFailedHandshakeIsAboutTheSchemeAndThePort() throws {
        let failure = TaskSummary.Failure(
            reason: "connect_failed", message: "OpenSSL/3: error:0A00010B:SSL routines::wrong version number")
        #expect(try #require(FailureAdvice.sentence(failure, id: 7)).hasPrefix("Check the scheme and the port"))
    }
}
