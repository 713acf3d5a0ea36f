import NIOConcurrencyHelpers
import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferCurl

@Suite struct HandshakeHookTests {
    private let fixture: TrustFixture
    private let server: TLSServer

    init() throws {
        fixture = try TrustFixture()
        let leaf = try fixture.authority.issue()
        var options = TLSServer.Options(chain: fixture.authority.chain(for: leaf), privateKey: leaf.privateKey)
        options.offersResumption = true
        server = try TLSServer(options)
    }

    private func hook(_ target: TrustTarget?, id: UInt = 7, seen: NIOLockedValueBox<[TrustVerdict]>) -> HandshakeHook {
        HandshakeHook(
            id: id, target: { $0 == id ? target : nil },
            onVerdict: { _, verdict, _ in seen.withLockedValue { $0.append(verdict) } })
    }

    private var target: TrustTarget {
        TrustTarget(
            host: ServerName(host: "localhost"), port: UInt16(truncatingIfNeeded: server.port), policies: .ordinary)
    }

    @Test func everyHandshakeIsJudgedOnce() async throws {
        let (server, evaluator, target) = (server, fixture.evaluator, target)
        let seen = NIOLockedValueBox<[TrustVerdict]>([])
        let hook = hook(target, seen: seen)
        try await offThread {
            let client = try RawTLSClient()
            try client.install(hook, evaluator)
            for _ in 0..<3 { #expect(try client.connect(to: server) == false) }
        }
        #expect(seen.withLockedValue { $0.map(\.isAccepted) } == [true, true, true])
    }

    @Test func aHandshakeWithoutAResolvedPolicyIsRefused() async throws {
        let (server, evaluator) = (server, fixture.evaluator)
        let seen = NIOLockedValueBox<[TrustVerdict]>([])
        let hook = hook(nil, seen: seen)
        try await offThread {
            let client = try RawTLSClient()
            try client.install(hook, evaluator)
            #expect(try client.connect(to: server) == nil)
        }
        #expect(server.counts.handshakes == 0)
    }

    @Test func aHookReplacesTheOneBefore() async throws {
        let (server, evaluator) = (server, fixture.evaluator)
        let (first, second) = (NIOLockedValueBox<[TrustVerdict]>([]), NIOLockedValueBox<[TrustVerdict]>([]))
        let hooks = [hook(nil, seen: first), hook(target, seen: second)]
        try await offThread {
            let client = try RawTLSClient()
            for hook in hooks { try client.install(hook, evaluator) }
            #expect(try client.connect(to: server) == false)
        }
        #expect(second.withLockedValue { $0.count } == 1)
    }

    /// A resumed session is never judged. The server would resume, which the control shows: but a client with the hook is
    /// never offered a session that it could keep.
    @Test func noSessionIsKeptForResumption() async throws {
        let (server, evaluator) = (server, fixture.evaluator)
        let seen = NIOLockedValueBox<[TrustVerdict]>([])
        let hook = hook(target, seen: seen)
        try await offThread {
            let careless = try RawTLSClient()
            careless.trustEverybody()
            #expect(try careless.connect(to: server) == false)
            #expect(try careless.connect(to: server) == true)

            let judged = try RawTLSClient()
            try judged.install(hook, evaluator)
            for _ in 0..<3 { #expect(try judged.connect(to: server) == false) }
            #expect(judged.session == nil)
        }
        #expect(server.counts.resumptions == 1)
        #expect(seen.withLockedValue { $0.count } == 3)
    }
}
