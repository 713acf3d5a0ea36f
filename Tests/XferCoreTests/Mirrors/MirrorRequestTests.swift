import Testing
import XferCore
import XferModel

/// What another origin than the task's own is shown.
@Suite struct MirrorRequestTests {
    private static let home = HTTPURL(scheme: .https, host: "a.example", port: 443, target: "/f")
    private static let away = HTTPURL(scheme: .https, host: "b.example", port: 443, target: "/f")
    private static let plain = HTTPURL(scheme: .http, host: "b.example", port: 80, target: "/f")

    private func request() throws -> TransferRequest {
        var request = TransferRequest(url: Self.home)
        request.headers = [
            HeaderField(name: "Accept", value: "x/y"), HeaderField(name: "Authorization", value: "secret"),
            HeaderField(name: "cookie", value: "secret"), HeaderField(name: "X-Api-Key", value: "secret"),
            HeaderField(name: "HOST", value: "a"),
        ]
        let token = HeaderField(name: "X-Token", value: "secret")
        request.headerRules = [
            HeaderRule(set: [HeaderField(name: "X-All", value: "1"), token]),
            HeaderRule(hosts: [try HostPattern("b.example")], set: [token]),
        ]
        request.clientCertificate = ClientCertificateFiles(certificate: "/c", key: "/k")
        return request
    }

    @Test func theFirstOriginIsSentAllFields() throws {
        let request = try request()
        #expect(MirrorRequest.request(request, for: Self.home) == request)
        let other = HTTPURL(scheme: .https, host: "a.example", port: 443, target: "/g")
        var expected = request
        expected.url = other
        #expect(MirrorRequest.request(request, for: other) == expected)
    }

    @Test func anotherOriginIsSentNoSecretsOfOtherOrigins() throws {
        let asked = MirrorRequest.request(try request(), for: Self.away)
        #expect(asked.url == Self.away)
        #expect(asked.headers.map(\.name) == ["Accept"])
        #expect(asked.headerRules.map { $0.set.map(\.name) } == [["X-All"], ["X-Token"]])
        #expect(asked.clientCertificate == nil)
    }

    @Test func secretsOfAnHTTPSRequestAreNotSentToAPlainHTTPMirror() throws {
        let asked = MirrorRequest.request(try request(), for: Self.plain)
        #expect(asked.headerRules.map { $0.set.map(\.name) } == [["X-All"], []])
    }

    @Test(arguments: [Self.away, Self.plain]) func aMirrorRequestSendsNoContent(_ mirror: HTTPURL) throws {
        var request = try request()
        request.headerRules.removeLast()
        let asked = MirrorRequest.request(request, for: mirror)
        let credential = ResolvedCredential(scheme: .basic, user: "u", secret: "secret", origins: [Self.home.origin])
        let fields = HopHeaders.fields(
            for: asked, plan: ResumeRules.plan(kept: ResumeData()), hop: HopHeaders.Hop(url: mirror),
            credential: credential, userAgent: "x")
        #expect(!fields.contains { $0.value.contains("secret") || $0.name == "Authorization" || $0.name == "HOST" })
        let back = HopHeaders.fields(
            for: asked, plan: ResumeRules.plan(kept: ResumeData()), hop: HopHeaders.Hop(url: Self.home),
            credential: credential, userAgent: "x")
        #expect(back.firstValue(named: "Authorization")?.hasPrefix("Basic ") == true)
    }
}
