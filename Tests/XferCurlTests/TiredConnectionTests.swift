import NIOConcurrencyHelpers
import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferCurl

/// A large body after small ones on a line that loses packets; see `ConnectionLosses`.
@Suite struct TiredConnectionTests {
    static let lossy = ConnectionLosses(segments: 1000, outOfOrder: 50)
    static let large = Int(ConnectionLosses.leastBody)

    /// Answers `/small` on each connection, and `/large` with a body on all but those where `beginsOnly` holds.
    private static func serve(
        _ log: NIOLockedValueBox<[String]>, length: Int, beginsOnly: @escaping @Sendable (Int) -> Bool
    ) throws -> RawServer {
        try RawServer { connection in
            while let head = connection.readHead() {
                let path = head.split(separator: " ").dropFirst().first.map(String.init) ?? ""
                log.withLockedValue { $0.append("\(connection.number)\(path)") }
                guard path == "/large" else {
                    connection.write("HTTP/1.1 200 X\r\nContent-Length: 5\r\n\r\nhello")
                    continue
                }
                connection.write("HTTP/1.1 200 X\r\nContent-Length: \(length)\r\nETag: \"a\"\r\n\r\n")
                if !beginsOnly(connection.number) { connection.write([UInt8](repeating: 7, count: length)) }
            }
        }
    }

    @Test func aLargeBodyLeavesAConnectionThatHasLostPackets() async throws {
        let log = NIOLockedValueBox<[String]>([])
        let server = try Self.serve(log, length: Self.large) { $0 == 1 }
        let harness = try Harness(losses: Self.lossy)
        #expect(try await harness.run(.get(server.url("/small"))).outcome.result == .complete)
        let part = try PartFile()
        let record = try await harness.run(.get(server.url("/large"), into: part), part: part)
        #expect(record.outcome.result == .complete && record.outcome.offset == Int64(Self.large))
        #expect(log.withLockedValue(\.self) == ["1/small", "1/large", "2/large"])
        #expect(record.verdicts.count == 1, "the first answer was not reported")
    }

    @Test(arguments: [
        (large, ConnectionLosses(segments: 1000, outOfOrder: 0)), (large - 1, lossy),
    ])
    func aGoodConnectionIsKeptAndSoIsALossyOneForASmallerBody(length: Int, losses: ConnectionLosses) async throws {
        let log = NIOLockedValueBox<[String]>([])
        let server = try Self.serve(log, length: length) { _ in false }
        let harness = try Harness(losses: losses)
        #expect(try await harness.run(.get(server.url("/small"))).outcome.result == .complete)
        let part = try PartFile()
        let record = try await harness.run(.get(server.url("/large"), into: part), part: part)
        #expect(record.outcome.result == .complete)
        #expect(log.withLockedValue(\.self) == ["1/small", "1/large"])
    }
}
