import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferCurl

/// Names with several addresses, some of which do not answer.
@Suite struct AddressTests {
    private static let name = "two.test"

    /// A server that accepts and is silent, and one on the same port of another address that answers.
    private func servers(_ silent: String, _ good: String) throws -> (silent: RawServer, good: RawServer) {
        let answering = try RawServer(address: good) { connection in
            while connection.readHead() != nil { connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi") }
        }
        let mute = try RawServer(address: silent, port: answering.port) { connection in _ = connection.readAll() }
        return (mute, answering)
    }

    private func attempt(_ port: Int, _ addresses: [String]) throws -> Attempt {
        let listed = addresses.map { $0.contains(":") ? "[\($0)]" : $0 }.joined(separator: ",")
        let rule = try #require(ResolveRule("\(Self.name):\(port):\(listed)"))
        var key = SessionKey()
        key.connections.resolve = [rule]
        return try .get("http://\(Self.name):\(port)/x") { attempt in
            attempt.request.timeouts.idle = 0.3
            attempt.session = { [key] _ in SessionSpec(key: key) }
        }
    }

    @Test(arguments: [("::1", "127.0.0.1"), ("127.0.0.2", "127.0.0.3")])
    func anAttemptThatGotNoByteIsFollowedByOneAtAnotherAddress(_ silent: String, _ good: String) async throws {
        let servers = try servers(silent, good)
        let harness = try Harness()
        let attempt = try attempt(servers.good.port, [silent, good])
        let first = try await harness.run(attempt)
        #expect(first.error?.reason == .idleTimeout)
        #expect(first.error?.message.contains(silent) == true, "\(first.error?.message ?? "")")
        #expect(first.outcome.trace?.address == silent)
        for _ in 0..<3 {
            let next = try await harness.run(attempt)
            #expect(next.outcome.result == .complete)
            #expect(next.outcome.trace?.address == good)
        }
        #expect(servers.silent.connectionCount == 1)
    }

    @Test func theOnlyAddressIsUsedAgain() async throws {
        let servers = try servers("127.0.0.2", "127.0.0.3")
        let harness = try Harness()
        let attempt = try attempt(servers.good.port, ["127.0.0.2"])
        for count in 1...3 {
            #expect(try await harness.run(attempt).error?.reason == .idleTimeout)
            #expect(servers.silent.connectionCount == count)
        }
    }

    @Test func failingAddressesTakeTurns() async throws {
        let servers = try servers("127.0.0.2", "127.0.0.3")
        let other = try RawServer(address: "127.0.0.4", port: servers.good.port) { connection in
            _ = connection.readAll()
        }
        let harness = try Harness()
        let attempt = try attempt(servers.good.port, ["127.0.0.2", "127.0.0.4"])
        for _ in 0..<4 { #expect(try await harness.run(attempt).error?.reason == .idleTimeout) }
        #expect(servers.silent.connectionCount == 2 && other.connectionCount == 2)
    }

    /// A rule of the operator's is not weakened: the address that is left is refused.
    @Test func aRefusedAddressIsNoWayOut() async throws {
        let servers = try servers("127.0.0.2", "127.0.0.3")
        let harness = try Harness()
        var attempt = try attempt(servers.good.port, ["127.0.0.2", "127.0.0.3"])
        #expect(try await harness.run(attempt).error?.reason == .idleTimeout)
        let session = attempt.session
        let denied = try #require(AddressBlock("127.0.0.3/32"))
        attempt.session = { url throws(TransferError) in
            var spec = try session(url)
            spec.admission = AdmissionRules(AdmissionLists(deniedAddresses: [denied]))
            return spec
        }
        #expect(try await harness.run(attempt).error?.reason == .idleTimeout)
        #expect(servers.good.connectionCount == 0 && servers.silent.connectionCount == 2)
    }

    @Test func theTraceOfAnAttemptTellsAddressProtocolAndTimes() async throws {
        let servers = try servers("127.0.0.2", "127.0.0.3")
        let harness = try Harness()
        let attempt = try attempt(servers.good.port, ["127.0.0.3"])
        let first = try #require(try await harness.run(attempt).outcome.trace)
        #expect(first.address == "127.0.0.3" && first.port == UInt16(clamping: servers.good.port))
        #expect(first.httpVersion == "HTTP/1.1" && !first.isReused)
        #expect(first.times.connect != nil && first.times.tls == nil)
        #expect(try #require(first.times.total) >= first.times.firstByte ?? .max)
        let second = try #require(try await harness.run(attempt).outcome.trace)
        #expect(second.isReused && second.address == "127.0.0.3" && second.times.connect == nil)
    }

    @Test func aBodyThatTricklesIsTooSlow() async throws {
        let server = try await FaultServer()
        server.serve("/x", .tagged(9, length: 1000), faults: [[.drip(1, every: .milliseconds(20))]])
        let record = try await harnessRun(server) { $0.leastRate = LeastRate(rate: 100_000, time: 0.3) }
        #expect(record.error?.reason == .tooSlow)
        #expect(record.error?.isRetriable == true)
        #expect(record.outcome.offset > 0)
    }

    @Test func aLimitOfOurOwnIsNotTheServersSlowness() async throws {
        let server = try await FaultServer()
        server.serve("/x", .tagged(9, length: 20_000))
        let record = try await harnessRun(server) { attempt in
            attempt.leastRate = LeastRate(rate: 1_000_000, time: 0.1)
            attempt.maxReceiveRate = 20_000
        }
        #expect(record.outcome.result == .complete)
    }

    private func harnessRun(_ server: FaultServer, _ change: (inout Attempt) -> Void) async throws -> Harness.Record {
        try await Harness().run(.get(server.url("/x"), change))
    }
}
