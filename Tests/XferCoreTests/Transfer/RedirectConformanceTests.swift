import Testing
import XferCore
import XferModel
import XferTestSupport

/// curl's tests of redirects.
@Suite struct RedirectConformanceTests {
    struct Subject: Sendable {
        var method = HTTPMethod.get
        var status: Int
        /// Redirects before this one.
        var earlier = 0
        var limit = 20
        /// The host to which it leads.
        var host = "a.test"
        /// The method and the `Authorization` field of the next request, or the reason of the failure.
        var outcome: String
    }

    static let cases: [ConformanceCase<Subject>] = [
        .same("curl 11", Subject(status: 301, outcome: "GET Custom k")),
        .same("curl 25", Subject(status: 301, earlier: 5, limit: 5, outcome: "too_many_redirects")),
        .same("curl 317", Subject(status: 302, host: "b.test", outcome: "GET")),
        .same("curl 1011", Subject(method: .post, status: 301, outcome: "GET Custom k")),
        .differs(
            "curl 1012", because: "--post301 has no counterpart: a server that wants the POST again answers 308",
            Subject(method: .post, status: 301, outcome: "GET Custom k")),
    ]

    @Test(arguments: cases) func aRedirectIsFollowedAsTheSuiteExpects(test: ConformanceCase<Subject>) {
        let subject = test.subject
        let from = HTTPURL(scheme: .http, host: "a.test", port: 80, target: "/x")
        let to = HTTPURL(scheme: .http, host: subject.host, port: 80, target: "/y")
        var request = TransferRequest(
            url: from, method: subject.method, headers: [HeaderField(name: "Authorization", value: "Custom k")])
        request.maxRedirects = subject.limit
        var rules = RedirectRules(request)
        do throws(TransferError) {
            for _ in 0...subject.earlier { try rules.onRedirect(status: subject.status, from: from, to: to) }
        } catch {
            #expect(error.reason.rawValue == subject.outcome)
            return
        }
        let method = RedirectRules.method(after: subject.status, to: subject.method)
        let fields = HopHeaders.fields(
            for: request, plan: ResumeRules.plan(kept: ResumeData()), hop: HopHeaders.Hop(url: to, method: method),
            userAgent: "test")
        let login = fields.firstValue(named: "Authorization").map { " " + $0 } ?? ""
        #expect(method.rawValue + login == subject.outcome)
    }
}
