import NIOConcurrencyHelpers
import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferCurl

/// `Strict-Transport-Security` (RFC 6797) of a real TLS server named localhost.
@Suite struct StrictTransportTests {
    private let directory: TemporaryDirectory
    private let authority: TestCA
    private let harness: Harness

    init() throws {
        directory = try TemporaryDirectory("xfer-hsts")
        authority = try TestCA()
        try FileTree.write(authority.pem, to: directory.file("ca.pem"))
        harness = try Harness()
    }

    private func serve(_ field: String, _ change: (inout TLSServer.Options) -> Void = { _ in }) throws -> TLSServer {
        let leaf = try authority.issue()
        var options = TLSServer.Options(chain: leaf.certificate, privateKey: leaf.privateKey)
        options.headers = "Content-Length: 6\r\nStrict-Transport-Security: \(field)\r\n"
        change(&options)
        return try TLSServer(options)
    }

    private func get(
        _ url: String, policies: AppliedPolicies = .ordinary, _ change: (inout Attempt) -> Void = { _ in }
    ) async throws -> Harness.Record {
        let caFile = directory.file("ca.pem")
        return try await harness.run(
            .get(url) { attempt in
                attempt.session = { _ in SessionSpec(trust: TrustSettings(caFile: caFile, policies: policies)) }
                change(&attempt)
            })
    }

    private var known: [String] { harness.engine.strictTransport.hosts.map(\.host) }

    @Test func aLaterHTTPRequestGoesOverTLSWithItsSecrets() async throws {
        let server = try serve("max-age=1000")
        #expect(try await get("https://localhost:\(server.port)/a").outcome.result == .complete)
        let record = try await get("http://localhost:\(server.port)/b") { attempt in
            attempt.credential = .basic("me", "secret", for: attempt.request.url)
            attempt.request.headers = [HeaderField(name: "X-Api-Key", value: "k")]
        }
        #expect(record.outcome.result == .complete)
        #expect(record.outcome.finalURL.string == "https://localhost:\(server.port)/b")
        let hops = record.events.compactMap { event -> String? in
            guard case .redirected(let status, let from, let to, let decision) = event else { return nil }
            return "\(status) \(from.string) \(to.string) \(decision)"
        }
        #expect(hops == ["307 http://localhost:\(server.port)/b https://localhost:\(server.port)/b upgraded"])
        let head = try #require(server.counts.heads.last)
        #expect(head.contains("Authorization: Basic ") && head.contains("X-Api-Key: k"))
    }

    @Test func aRedirectToHTTPIsNoDowngradeThen() async throws {
        let server = try serve("max-age=1000")
        let redirecting = try serve("max-age=1000") { options in
            options.status = "302 Found"
            options.headers += "Location: http://localhost:\(server.port)/b\r\n"
        }
        let record = try await get("https://localhost:\(redirecting.port)/a")
        #expect(record.outcome.result == .complete)
        #expect(record.outcome.finalURL.string == "https://localhost:\(server.port)/b")
    }

    @Test func theConfigurationRefusesInsteadOrRemembersNothing() async throws {
        let server = try serve("max-age=1000")
        harness.engine.strictTransport.setMode(.off)
        #expect(try await get("https://localhost:\(server.port)/a").outcome.result == .complete)
        #expect(known.isEmpty)
        harness.engine.strictTransport.setMode(.deny)
        #expect(try await get("https://localhost:\(server.port)/a").outcome.result == .complete)
        let count = server.counts.connections
        let record = try await get("http://localhost:\(server.port)/b")
        #expect(record.error?.reason == .rejectedByPolicy && record.error?.isRetriable == false)
        #expect(server.counts.connections == count)
    }

    @Test func maxAgeZeroTakesItBack() async throws {
        let (server, end) = (try serve("max-age=1000"), try serve("max-age=0"))
        _ = try await get("https://localhost:\(server.port)/a")
        #expect(known == ["localhost"])
        _ = try await get("https://localhost:\(end.port)/a")
        #expect(known.isEmpty)
    }

    @Test func aForgottenHostIsReportedInOrderWithItsNextDemand() throws {
        let memory = StrictTransport(clock: { Timestamp(seconds: 1000) })
        let reports = NIOLockedValueBox<[String]>([])
        memory.begin(with: []) { change in
            let known = change.known.map { ["+\($0.host)"] } ?? []
            reports.withLockedValue { $0 += change.forgotten.map { "-\($0)" } + known }
        }
        memory.apply("max-age=1000", of: "a.example")
        #expect(memory.remove(["a.example", "b.example"]) == ["a.example"])
        memory.apply("max-age=1000", of: "a.example")
        #expect(
            reports.withLockedValue(\.self) == ["+a.example", "-a.example", "-b.example", "+a.example"],
            "an unknown host may be stored")
    }

    @Test func onlyTheFirstOfTwoFieldsCounts() async throws {
        let server = try serve("max-age=0") { $0.headers += "Strict-Transport-Security: max-age=1000\r\n" }
        _ = try await get("https://localhost:\(server.port)/a")
        #expect(known.isEmpty)
    }

    @Test func nothingIsRememberedOfAnAddressOfPlainHTTPOrOfALaxlyJudgedServer() async throws {
        let server = try serve("max-age=1000")
        _ = try await get("https://127.0.0.1:\(server.port)/a")
        let plain = try serve("max-age=1000") { $0.chain = "" }
        #expect(try await get("http://localhost:\(plain.port)/a").outcome.result == .complete)
        let lax = TrustPolicy(
            name: "lax", version: 1, allowsInvalidCertificates: true, validatesDomainName: false)
        let policies = AppliedPolicies(host: AppliedPolicy(lax, at: Timestamp(seconds: 0)))
        #expect(
            try await get("https://localhost:\(server.port)/a", policies: policies).outcome.result == .complete)
        #expect(known.isEmpty)
    }
}
