import Testing
import XferCore
import XferModel

@Suite struct ResponseRulesTests {
    let url = HTTPURL(scheme: .http, host: "example.org", port: 80, target: "/x?token=secret")
    let now = Timestamp(seconds: 784_111_777)

    private func failure(_ status: Int, retryAfter: String? = nil) -> TransferError {
        let fields = retryAfter.map { [HeaderField(name: "Retry-After", value: $0)] } ?? []
        return ResponseRules.failure(ResponseHead(status: status, fields: fields), from: url, now: now)
    }

    @Test func onlyTransientStatusesAreRetried() {
        let retriable = (100...599).filter { failure($0).isRetriable }
        #expect(retriable == [408, 423, 425, 429] + (500...599).filter { $0 != 501 && $0 != 505 })
    }

    @Test(
        arguments: [
            ("0", 0), ("120", 120), ("3600", 3600), ("3601", 3600), ("99999999999999999999", 3600),
            ("Sun, 06 Nov 1994 08:50:37 GMT", 60), ("Sun, 06 Nov 1994 08:49:36 GMT", 0),
            ("Mon, 07 Nov 1994 08:49:37 GMT", 3600),
            ("-5", nil), ("soon", nil), ("1.5", nil), ("", nil),
        ] as [(String, Int64?)])
    func retryAfterIsParsedAndClamped(text: String, expected: Int64?) {
        #expect(failure(503, retryAfter: text).retryAfter == expected)
        #expect(failure(404, retryAfter: text).retryAfter == nil)
    }

    @Test(arguments: [401, 403, 404, 407, 410, 503], [false, true])
    func everyRefusalSaysWhetherARedirectLedToIt(status: Int, isRedirected: Bool) {
        var head = ResponseHead(status: status)
        head.isRedirected = isRedirected
        #expect(ResponseRules.failure(head, from: url, now: now).isRedirected == (isRedirected ? true : nil))
    }

    @Test func anErrorMessageNamesHostAndStatusAndNoSecret() {
        #expect(failure(404).message == "example.org answered 404 (Not Found)")
        #expect(failure(401).reason == .authFailed)
    }

    @Test func aDemandForCredentialsSaysWhetherSomeWereSentAndWhatIsAccepted() {
        let challenge = HeaderField(name: "WWW-Authenticate", value: #"Basic realm="a, b", Bearer"#)
        var head = ResponseHead(status: 401, fields: [challenge])
        let plain = HTTPURL(scheme: .https, host: "example.org", port: 443, target: "/message")
        func message() -> String { ResponseRules.failure(head, from: plain, now: now).message }
        #expect(message() == "example.org answered 401: no credentials were sent; it accepts Basic, Bearer")
        let signed = HTTPURL(scheme: .https, host: "example.org", port: 443, target: "/message?token=wrong")
        #expect(
            ResponseRules.failure(head, from: signed, now: now).message
                == "example.org answered 401: no credentials were sent except what the URL's query has; "
                + "it accepts Basic, Bearer")
        #expect(ResponseRules.failure(head, from: plain, now: now).acceptedLogins == ["Basic", "Bearer"])
        head.followsCredentials = true
        #expect(message() == "example.org answered 401: it requires other credentials; it accepts Basic, Bearer")
        head.fields = []
        #expect(message() == "example.org answered 401: it requires other credentials")
    }
}
