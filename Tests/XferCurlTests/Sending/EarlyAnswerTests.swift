import NIOConcurrencyHelpers
import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferCurl

/// Servers that answer, or go away, before they have all of it.
@Suite struct EarlyAnswerTests {
    /// Has the content sent, so that what follows meets it on its way.
    private static func goAhead(_ connection: RawConnection) -> Bool {
        guard connection.readHead()?.contains("Expect: 100-continue") == true else { return false }
        connection.write("HTTP/1.1 100 Continue\r\n\r\n")
        return connection.read(1).count == 1
    }

    private static let refusal = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 4\r\n\r\nbig!"

    private func put(_ server: RawServer) async throws -> (Harness.Record, AttemptProgress.Snapshot) {
        let file = try SentFile(.tagged(120, length: 32 << 20))
        let harness = try Harness()
        let handle = await harness.engine.start(try .exchange(.put, server.url("/x"), .file(file.whole)))
        return (try await harness.follow(handle), handle.progress.snapshot)
    }

    @Test func anEarlyRefusalEndsTheSending() async throws {
        let server = try RawServer { connection in
            guard Self.goAhead(connection) else { return }
            connection.write(Self.refusal)
            // Reads no more until the client goes away.
            while connection.read(1 << 20).count > 0 {}
        }
        let (record, progress) = try await put(server)
        #expect(record.outcome.result == .complete)
        #expect(record.outcome.head?.status == 413)
        #expect(record.outcome.body == Array("big!".utf8))
        #expect(progress.sent < 32 << 20)
    }

    /// A server should not do that (RFC 9112 §9.6), but its word is there before the reset, however that meets the sending.
    @Test(arguments: ["plain", "multipart", "tus"], [413, 401])
    func anEarlyRefusalBeforeAConnectionResetIsReported(kind: String, status: Int) async throws {
        let file = try SentFile(.tagged(122, length: 32 << 20))
        let harness = try Harness()
        for _ in 0..<20 {
            let server = try RawServer { connection in
                guard Self.goAhead(connection) else { return }
                connection.write("HTTP/1.1 \(status) No\r\nContent-Length: 4\r\n\r\nbig!")
            }
            let attempt: Attempt =
                switch kind {
                case "multipart":
                    try .exchange(
                        .post, server.url("/x"), .parts([AttemptPart(name: "f", content: .file(file.whole))]))
                case "tus":
                    try .exchange(.patch, server.url("/x"), .file(file.whole)) {
                        $0.request.headers = [
                            HeaderField(name: "Tus-Resumable", value: "1.0.0"),
                            HeaderField(name: "Upload-Offset", value: "0"),
                        ]
                    }
                default: try .exchange(.put, server.url("/x"), .file(file.whole))
                }
            let record = try await harness.run(attempt)
            #expect(record.outcome.requestWasSent)
            #expect(record.outcome.result == .complete)
            #expect(record.outcome.head?.status == status)
            #expect(record.outcome.body == Array("big!".utf8))
        }
    }

    /// What the server had to say is cut short with the connection; that it refuses is known.
    @Test func anEarlyRefusalWithoutItsEndIsARefusal() async throws {
        let server = try RawServer { connection in
            guard Self.goAhead(connection) else { return }
            connection.write("HTTP/1.1 413 Content Too Large\r\nContent-Length: 4000\r\n\r\nbig!")
        }
        let (record, _) = try await put(server)
        #expect(record.outcome.result == .complete)
        #expect(record.outcome.head?.status == 413)
        #expect(record.outcome.body == Array("big!".utf8))
    }

    /// An early success counts only when it is complete.
    @Test func anEarlySuccessThatBreaksOffIsNotASuccess() async throws {
        let server = try RawServer { connection in
            guard Self.goAhead(connection) else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 4000\r\n\r\nok")
        }
        let (record, _) = try await put(server)
        #expect(record.error?.isRetriable == true)
    }

    @Test func anEarlyRedirectIsFollowedWithAllOfTheContent() async throws {
        let file = try SentFile(.tagged(121, length: 4 << 20))
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(200, text: "ok") }
        let early = try RawServer { connection in
            guard Self.goAhead(connection) else { return }
            connection.write("HTTP/1.1 307 Elsewhere\r\nLocation: \(server.url("/y"))\r\nContent-Length: 0\r\n\r\n")
            while connection.read(1 << 20).count > 0 {}
        }
        let record = try await Harness().run(.exchange(.put, early.url("/x"), .file(file.whole)))
        #expect(record.outcome.head?.status == 200)
        #expect(server.requests.first?.body == file.version.bytes)
    }

    @Test func anEarlySuccessCountsOnceAllContentIsSent() async throws {
        let received = NIOLockedValueBox(0)
        let server = try RawServer { connection in
            guard Self.goAhead(connection) else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            let count = connection.read((32 << 20) - 1).count
            received.withLockedValue { $0 = count + 1 }
            _ = connection.readHead()
        }
        let (record, progress) = try await put(server)
        #expect(record.outcome.result == .complete)
        #expect(record.outcome.body == Array("ok".utf8))
        #expect(progress.sent == 32 << 20)
        try await eventually("the server has all of it") { received.withLockedValue { $0 } == 32 << 20 }
    }

    @Test func aServerThatClosesEarlyLosesTheConnection() async throws {
        let server = try RawServer { connection in
            guard Self.goAhead(connection) else { return }
            _ = connection.read(1 << 20)
        }
        let (record, _) = try await put(server)
        #expect(record.error?.reason == .connectionLost)
        #expect(record.error?.isRetriable == true)
        #expect(record.outcome.requestWasSent)
    }
}
