import Testing
import XferCore
import XferCurl
import XferModel
import XferTestSupport

@Suite struct RedirectTests {
    let version = SourceVersion.tagged(40, length: 50_000)

    @Test func redirectsAreFollowedToTheEnd() async throws {
        let server = try await FaultServer()
        server.on("/a") { _ in .redirect(to: "/b/../c?x=1") }
        server.on("/c") { _ in .redirect(to: server.url("/file#part"), status: 308) }
        server.serve("/file", version)
        let part = try PartFile()
        let record = try await Harness().run(.get(server.url("/a"), into: part))
        #expect(record.outcome.result == .complete)
        #expect(record.outcome.finalURL.string == server.url("/file"))
        #expect(record.outcome.resumeData.finalURL?.string == server.url("/file"))
        #expect(server.requests.map(\.target) == ["/a", "/c?x=1", "/file"])
        #expect(server.connectionCount == 1)
        let hops = record.events.compactMap { event -> String? in
            guard case .redirected(let status, let from, let to, .followed) = event else { return nil }
            return "\(status) \(from.target) \(to.target)"
        }
        #expect(hops == ["302 /a /c?x=1", "308 /c?x=1 /file"])
        #expect(try part.bytes == version.bytes)
    }

    @Test func secretsAreSentOnlyToTheirOrigin() async throws {
        let home = try await FaultServer()
        let other = try await FaultServer()
        home.on("/a") { _ in .redirect(to: other.url("/b")) }
        other.on("/b") { _ in .redirect(to: home.url("/file")) }
        home.serve("/file", version)
        let attempt = try Attempt.get(home.url("/a")) { attempt in
            attempt.credential = .basic("me", "secret", for: attempt.request.url)
            attempt.request.headers = [
                HeaderField(name: "Cookie", value: "a=b"), HeaderField(name: "X-Api-Key", value: "k"),
                HeaderField(name: "X-Plain", value: "p"), HeaderField(name: "Host", value: "virtual.test"),
            ]
        }
        let record = try await Harness().run(attempt)
        #expect(record.outcome.result == .complete)
        let stranger = try #require(other.requests.first)
        for name in ["Authorization", "Cookie", "X-Api-Key"] { #expect(stranger.header(name) == nil) }
        #expect(stranger.header("X-Plain") == "p")
        #expect(stranger.header("Host") == "127.0.0.1:\(other.port)")
        for request in home.requests {
            for name in ["Authorization", "Cookie", "X-Api-Key"] { #expect(request.header(name) != nil) }
        }
    }

    @Test func twentyRedirectsAreAllowedAndNoMore() async throws {
        let server = try await FaultServer()
        server.onAnyOther { request in
            let number = Int(request.path.dropFirst()) ?? 0
            return number == 0 ? Reply(200, text: "end") : .redirect(to: "/\(number - 1)")
        }
        let harness = try Harness()
        #expect(try await harness.run(.get(server.url("/20"))).outcome.result == .complete)
        #expect(try await harness.run(.get(server.url("/21"))).error?.reason == .tooManyRedirects)
    }

    @Test func redirectPoliciesDenyAndSameOriginRefuse() async throws {
        let server = try await FaultServer()
        let other = try await FaultServer()
        server.on("/here") { _ in .redirect(to: "/file") }
        server.on("/there") { _ in .redirect(to: other.url("/file")) }
        server.serve("/file", version)
        let harness = try Harness()
        func result(_ path: String, _ policy: RedirectPolicy) async throws -> Harness.Record {
            try await harness.run(.get(server.url(path)) { $0.request.redirect = policy })
        }
        #expect(try await result("/here", .deny).error?.reason == .redirectDenied)
        #expect(try await result("/here", .sameOrigin).outcome.result == .complete)
        #expect(try await result("/there", .sameOrigin).error?.reason == .redirectDenied)
        #expect(other.requests.isEmpty)
    }

    /// What a client that follows no redirects gets: curl without `-L`.
    @Test(arguments: [AttemptMode.exchange, .download])
    func aDeniedRedirectIsDeliveredIfItsStatusIsAccepted(mode: AttemptMode) async throws {
        let server = try await FaultServer()
        server.on("/a") { _ in
            Reply(302, headers: [HeaderField(name: "Location", value: "ftp://elsewhere.test/")], text: "moved")
        }
        let record = try await Harness().run(
            .get(server.url("/a")) { attempt in
                attempt.mode = mode
                attempt.request.redirect = .deny
                attempt.request.acceptedStatus = StatusSet(200...399)
            })
        #expect(record.outcome.result == .complete)
        #expect(record.outcome.head?.status == 302 && record.outcome.head?.location == "ftp://elsewhere.test/")
        #expect(record.outcome.body == Array("moved".utf8))
    }

    @Test func aRedirectTellsWhatWasDecidedAboutIt() async throws {
        let server = try await FaultServer()
        server.on("/a") { _ in .redirect(to: "/b") }
        server.on("/b") { _ in .redirect(to: "/c") }
        func decisions(_ change: @escaping (inout TransferRequest) -> Void) async throws -> [String] {
            let record = try await Harness().run(.get(server.url("/a")) { change(&$0.request) })
            return record.events.compactMap { event -> String? in
                guard case .redirected(_, _, let to, let decision) = event else { return nil }
                return "\(to.target) \(decision)"
            }
        }
        #expect(try await decisions { $0.maxRedirects = 1 } == ["/b followed", "/c refused"])
        #expect(try await decisions { $0.maxRedirects = 0 } == ["/b refused"])
        #expect(try await decisions { $0.redirect = .deny } == ["/b refused"])
        let delivered = try await decisions { request in
            request.redirect = .deny
            request.acceptedStatus = StatusSet(302...302)
        }
        #expect(delivered == ["/b delivered"])
    }

    @Test(arguments: ["file:///etc/passwd", "ftp://127.0.0.1/x", "http://", "gopher://127.0.0.1/"])
    func aRedirectToAnotherSchemeIsAPermanentError(location: String) async throws {
        let server = try await FaultServer()
        server.on("/a") { _ in .redirect(to: location) }
        let record = try await Harness().run(.get(server.url("/a")))
        #expect(record.error?.reason == .protocolError)
        #expect(record.error?.isRetriable == false)
    }

    @Test func eachRedirectHopRequestsASessionOfItsOwn() async throws {
        let server = try await FaultServer()
        let other = try await FaultServer()
        server.on("/a") { _ in .redirect(to: other.url("/b")) }
        let refusal = TransferError(.trustRejected, "not there")
        let port = UInt16(other.port)
        let record = try await Harness().run(
            .get(server.url("/a")) { attempt in
                attempt.session = { url throws(TransferError) in
                    if url.port == port { throw refusal }
                    return SessionSpec()
                }
            })
        #expect(record.error == refusal)
        #expect(other.requests.isEmpty)
    }

    @Test func theRangeIsRequestedAtEveryHop() async throws {
        let server = try await FaultServer()
        server.on("/a") { _ in .redirect(to: "/file") }
        server.serve("/file", version)
        let part = try PartFile(holding: version.bytes(0..<20_000))
        let record = try await Harness().run(Attempt.get(server.url("/a"), into: part).keeping(version, 20_000))
        #expect(record.outcome.result == .complete)
        #expect(server.requests.map { $0.header("Range") } == ["bytes=20000-", "bytes=20000-"])
        #expect(try part.bytes == version.bytes)
    }
}
