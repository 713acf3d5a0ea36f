import Testing
import XferCore
import XferCurl
import XferModel
import XferTestSupport

/// Answers that the client has not requested yet, on connections kept for the next request.
@Suite struct IdleConnectionTests {
    /// Answers each request with the connection's number; the first connection sends more after `speak`.
    private final class Server: Sendable {
        private let mayGoOn = Gate()
        let raw: RawServer

        init(saying surprise: String) throws {
            let mayGoOn = mayGoOn
            raw = try RawServer { connection in
                while connection.readHead() != nil {
                    connection.write("HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\(connection.number)")
                    guard connection.number == 1 else { continue }
                    mayGoOn.block()
                    connection.write(surprise)
                }
            }
        }

        func speak() { mayGoOn.open() }
    }

    private static let answer = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nstolen"

    @Test(arguments: [answer, "x", "\r\n"], [AttemptMode.download, .exchange])
    func anUnsolicitedAnswerIsNotTakenForTheNextRequests(surprise: String, mode: AttemptMode) async throws {
        let server = try Server(saying: surprise)
        let harness = try Harness()
        let attempt = try Attempt.get(server.raw.url("/x")) { $0.mode = mode }
        #expect(try await harness.run(attempt).outcome.body == Array("1".utf8))
        server.speak()
        try await eventually("bytes are there") { ReceiveQueue.bytes(from: server.raw.port) == surprise.utf8.count }
        let second = try await harness.run(attempt)
        #expect(second.outcome.result == .complete)
        #expect(second.outcome.body == Array("2".utf8))
        #expect(server.raw.connectionCount == 2)
        // The new connection is as good as any.
        #expect(try await harness.run(attempt).outcome.body == Array("2".utf8))
        #expect(server.raw.connectionCount == 2)
    }

    @Test func aPOSTIsSentOnceOverTheNewConnection() async throws {
        let server = try Server(saying: Self.answer)
        let harness = try Harness()
        _ = try await harness.run(.get(server.raw.url("/x")))
        server.speak()
        try await eventually("bytes are there") { ReceiveQueue.bytes(from: server.raw.port) > 0 }
        let record = try await harness.run(.exchange(.post, server.raw.url("/x"), .bytes([])))
        #expect(record.outcome.result == .complete)
        #expect(record.outcome.body == Array("2".utf8))
    }

    @Test func anUnsolicitedAnswerOverTLSIsNotTakenForTheNextRequests() async throws {
        let rig = try TrustRig()
        let server = try Server(saying: Self.answer)
        let leaf = try rig.authority.issue()
        let front = try rig.serve(leaf) { $0.backend = server.raw.port }
        let first = try await rig.get(front.url())
        #expect(first.text == "1")
        server.speak()
        try await eventually("bytes are there") { ReceiveQueue.bytes(from: front.port) > 0 }
        #expect(try await rig.get(front.url()).text == "2")
        #expect(front.counts.connections == 2)
    }

    /// The check must not cost honest servers their connections, however they are reached.
    @Test(arguments: ["directly", "over IPv6", "through a proxy", "through a secure proxy", "through a SOCKS proxy"])
    func aQuietConnectionIsUsedAgain(way: String) async throws {
        let rig = try TrustRig()
        let origin = try rig.serve { if way == "over IPv6" { $0.address = "::1" } }
        let proxy: TLSServer?
        var address: String?
        var options = TLSServer.Options()
        switch way {
        case "through a proxy":
            options.isProxy = true
            proxy = try TLSServer(options)
            address = proxy.map { "http://127.0.0.1:\($0.port)" }
        case "through a secure proxy":
            proxy = try rig.serve { $0.isProxy = true }
            address = proxy.map { "https://localhost:\($0.port)" }
        case "through a SOCKS proxy":
            options.isSOCKS = true
            proxy = try TLSServer(options)
            address = proxy.map { "socks5h://127.0.0.1:\($0.port)" }
        default: proxy = nil
        }
        defer { withExtendedLifetime(proxy) {} }
        for _ in 1...4 { #expect(try await rig.get(origin.url(), proxy: address).text == "hello\n") }
        #expect(origin.counts.requests.count == 4)
        #expect(origin.counts.connections == 1)
    }

    @Test func bytesBehindTheBodyAreIgnoredAndTheConnectionIsNotReused() async throws {
        let raw = try RawServer { connection in
            while connection.readHead() != nil {
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello\r\n\(Self.answer)")
            }
        }
        let harness = try Harness()
        for count in 1...3 {
            for mode in [AttemptMode.download, .exchange] {
                let record = try await harness.run(.get(raw.url("/x")) { $0.mode = mode })
                #expect(record.outcome.result == .complete)
                #expect(record.outcome.body == Array("hello".utf8))
            }
            #expect(raw.connectionCount == 2 * count)
        }
    }

    /// As the ones in the same packet.
    @Test func bytesThatArriveAfterTheBodyAreIgnored() async throws {
        let server = try Server(saying: "\r\n")
        let harness = try Harness()
        let record = try await harness.run(.get(server.raw.url("/x")))
        #expect(record.outcome.body == Array("1".utf8))
        server.speak()
        try await eventually("bytes are there") { ReceiveQueue.bytes(from: server.raw.port) == 2 }
        #expect(try await harness.run(.get(server.raw.url("/x"))).outcome.body == Array("2".utf8))
    }
}
