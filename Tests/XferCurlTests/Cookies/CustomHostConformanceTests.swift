import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferCurl

/// curl's tests of cookies beside a `Host` field of the client's own.
@Suite struct CustomHostConformanceTests {
    struct Subject: Sendable {
        var host: String
        var set: String
        /// The `Cookie` field of the next request with that `Host` field; nil is none.
        var sent: String?
    }

    static let cases: [ConformanceCase<Subject>] = [
        .differs(
            "curl 62", because: "with a Host field of its own a task would choose whose cookies it gets: it gets none",
            Subject(host: "www.field.test", set: "k=v; domain=.field.test", sent: nil)),
        .differs(
            "curl 73", because: "with a Host field of its own a task would choose for whom cookies are kept: none are",
            Subject(host: "field.test", set: "k=v; domain=field.test; path=/", sent: nil)),
    ]

    @Test(arguments: cases) func cookiesBesideAHostFieldAreAsTheTestSays(test: ConformanceCase<Subject>) async throws {
        let subject = test.subject
        let harness = try Harness()
        let server = try await FaultServer()
        server.onAnyOther { _ in
            Reply(200, headers: [HeaderField(name: "Set-Cookie", value: subject.set)], text: "ok")
        }
        for _ in 0..<2 {
            let record = try await harness.run(
                .get(server.url("/f")) { attempt in
                    attempt.cookieJar = "one"
                    attempt.request.headers = [HeaderField(name: "Host", value: subject.host)]
                })
            #expect(record.outcome.result == .complete)
        }
        #expect(server.requests.allSatisfy { $0.header("Host") == subject.host })
        #expect(server.requests.last?.header("Cookie") == subject.sent)
        #expect(harness.engine.cookies(in: "one").isEmpty == (subject.sent == nil))
    }
}
