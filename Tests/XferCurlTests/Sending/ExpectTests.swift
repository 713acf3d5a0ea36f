import NIOConcurrencyHelpers
import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferCurl

/// `Expect: 100-continue` before a large content (RFC 9110 §10.1.1).
@Suite struct ExpectTests {
    private static let large: Int64 = 8 << 20

    /// What a server got: heads, and bytes of content.
    private final class Seen: Sendable {
        private let box = NIOLockedValueBox<(heads: [String], bytes: Int)>(([], 0))

        func note(head: String) { box.withLockedValue { $0.heads.append(head) } }
        func note(bytes: Int) { box.withLockedValue { $0.bytes += bytes } }

        var bytes: Int { box.withLockedValue(\.bytes) }
        var asked: [Bool] { box.withLockedValue { $0.heads.map { $0.contains("Expect: 100-continue") } } }
    }

    private func answer(_ status: String) -> String { "HTTP/1.1 \(status)\r\nContent-Length: 2\r\n\r\nok" }

    /// Reads one request's content.
    private func content(_ count: Int, of connection: RawConnection, _ seen: Seen) {
        seen.note(bytes: connection.read(count).count)
    }

    private func put(_ server: RawServer, length: Int64 = large, with harness: Harness) async throws -> (
        Harness.Record, AttemptProgress.Snapshot
    ) {
        let file = try SentFile(.tagged(140, length: length))
        let handle = await harness.engine.start(try .exchange(.put, server.url("/x"), .file(file.whole)))
        return (try await harness.follow(handle), handle.progress.snapshot)
    }

    @Test(arguments: ["401 Unauthorized", "403 Forbidden", "409 Conflict", "413 Content Too Large"])
    func aServerThatRefusesALargeContentGetsNoneOfIt(status: String) async throws {
        let seen = Seen()
        let server = try RawServer { connection in
            guard let head = connection.readHead() else { return }
            seen.note(head: head)
            connection.write(answer(status))
            seen.note(bytes: connection.readAll().count)
        }
        do {
            let harness = try Harness()
            let (record, progress) = try await put(server, with: harness)
            #expect(record.outcome.result == .complete)
            #expect(record.outcome.head.map { status.hasPrefix("\($0.status)") } == true)
            #expect(record.outcome.body == Array("ok".utf8))
            #expect(progress.sent == 0 && progress.sentInAll == 0)
            await harness.engine.shutdown()
        }
        #expect(seen.asked == [true] && seen.bytes == 0)
    }

    @Test func aFormIsAnnouncedWithExpectLikeAnyContent() async throws {
        let seen = Seen()
        let server = try RawServer { connection in
            guard let head = connection.readHead() else { return }
            seen.note(head: head)
            connection.write(answer("409 Conflict"))
            seen.note(bytes: connection.readAll().count)
        }
        let file = try SentFile(.tagged(141, length: Self.large))
        let record = try await Harness().run(
            .exchange(.post, server.url("/x"), .parts([AttemptPart(name: "f", content: .file(file.whole))])))
        #expect(record.outcome.head?.status == 409)
        #expect(seen.asked == [true] && seen.bytes == 0)
    }

    @Test func aServerThatAnswers100GetsAllOfTheContent() async throws {
        let seen = Seen()
        let server = try RawServer { connection in
            while let head = connection.readHead() {
                seen.note(head: head)
                connection.write("HTTP/1.1 100 Continue\r\n\r\n")
                content(Int(Self.large), of: connection, seen)
                connection.write(answer("201 Created"))
            }
        }
        let harness = try Harness()
        for _ in 0..<2 { #expect(try await put(server, with: harness).0.outcome.head?.status == 201) }
        #expect(seen.asked == [true, true] && seen.bytes == 2 * Int(Self.large))
    }

    @Test func aSmallContentIsSentWithoutAsking() async throws {
        let seen = Seen()
        let length = Int(ContinueMemory.smallestContent) - 1
        let server = try RawServer { connection in
            while let head = connection.readHead() {
                seen.note(head: head)
                content(length, of: connection, seen)
                connection.write(answer("201 Created"))
            }
        }
        let (record, _) = try await put(server, length: Int64(length), with: try Harness())
        #expect(record.outcome.head?.status == 201)
        #expect(seen.asked == [false] && seen.bytes == length)
    }

    @Test func aServerThatIgnoresExpectGetsTheContentAndNoFurtherExpect() async throws {
        let seen = Seen()
        let server = try RawServer { connection in
            while let head = connection.readHead() {
                seen.note(head: head)
                content(Int(Self.large), of: connection, seen)
                connection.write(answer("201 Created"))
            }
        }
        let harness = try Harness()
        for _ in 0..<2 { #expect(try await put(server, with: harness).0.outcome.head?.status == 201) }
        #expect(seen.asked == [true, false] && seen.bytes == 2 * Int(Self.large))
    }

    @Test(arguments: ["", "Connection: close\r\n"])
    func a417IsFollowedByOneRequestWithoutExpect(field: String) async throws {
        let seen = Seen()
        let server = try RawServer { connection in
            while let head = connection.readHead() {
                seen.note(head: head)
                if head.contains("Expect:") {
                    connection.write("HTTP/1.1 417 Expectation Failed\r\n\(field)Content-Length: 2\r\n\r\nno")
                    if !field.isEmpty { return }
                } else {
                    content(Int(Self.large), of: connection, seen)
                    connection.write(answer("201 Created"))
                }
            }
        }
        let harness = try Harness()
        for _ in 0..<2 {
            let (record, _) = try await put(server, with: harness)
            #expect(record.outcome.result == .complete && record.outcome.head?.status == 201)
            #expect(record.outcome.body == Array("ok".utf8))
        }
        #expect(seen.asked == [true, false, false] && seen.bytes == 2 * Int(Self.large))
    }

    @Test func a417WithoutExpectIsTheAnswer() async throws {
        let server = try RawServer { connection in
            while connection.readHead() != nil {
                _ = connection.read(3)
                connection.write(answer("417 Expectation Failed"))
            }
        }
        let record = try await Harness().run(.exchange(.put, server.url("/x"), .bytes([1, 2, 3])))
        #expect(record.outcome.head?.status == 417 && server.connectionCount == 1)
    }
}
