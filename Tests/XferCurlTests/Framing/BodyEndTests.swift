import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferCurl

/// Ends of bodies that nothing vouches for (RFC 9112 §8, RFC 8446 §6.1), and second answers within one transfer.
@Suite struct BodyEndTests {
    let ca: TestCA
    let directory: TemporaryDirectory

    init() throws {
        directory = try TemporaryDirectory("xfer-end")
        ca = try TestCA()
        try FileTree.write(ca.pem, to: directory.file("ca.pem"))
    }

    /// TLS in front of a server that answers what the script says.
    private func secure(
        closeNotify: Bool = false, http2: Bool = false, _ script: @escaping @Sendable (RawConnection) -> Void
    ) throws -> (url: String, servers: (RawServer, TLSServer)) {
        let raw = try RawServer(script: script)
        let leaf = try ca.issue()
        var options = TLSServer.Options(chain: ca.chain(for: leaf), privateKey: leaf.privateKey)
        options.backend = raw.port
        options.sendsCloseNotify = closeNotify
        options.speaksHTTP2 = http2
        let tls = try TLSServer(options)
        return ("https://127.0.0.1:\(tls.port)/x", (raw, tls))
    }

    private func fetch(
        _ url: String, mode: AttemptMode = .download, _ change: (inout Attempt) -> Void = { _ in }
    ) async throws -> Harness.Record {
        let caFile = directory.file("ca.pem")
        return try await Harness().run(
            .get(url) { attempt in
                attempt.mode = mode
                attempt.session = { _ in SessionSpec(trust: TrustSettings(caFile: caFile)) }
                change(&attempt)
            })
    }

    @Sendable private static func unlengthed(_ version: String) -> @Sendable (RawConnection) -> Void {
        { connection in
            guard connection.readHead() != nil else { return }
            connection.write("HTTP/\(version) 200 OK\r\n\r\nhello")
        }
    }

    @Test(arguments: ["1.0", "1.1"], [AttemptMode.download, .exchange])
    func aTLSConnectionThatEndsWithoutCloseNotifyDoesNotEndTheBody(_ version: String, _ mode: AttemptMode) async throws
    {
        let (url, servers) = try secure(Self.unlengthed(version))
        defer { withExtendedLifetime(servers) {} }
        let record = try await fetch(url, mode: mode)
        #expect(record.error?.reason == .shortBody)
        #expect(record.error?.isRetriable == true)
        #expect(record.outcome.body == Array("hello".utf8))
    }

    @Test(arguments: ["1.0", "1.1"], [AttemptMode.download, .exchange])
    func closeNotifyEndsABodyWithoutLength(_ version: String, _ mode: AttemptMode) async throws {
        let (url, servers) = try secure(closeNotify: true, Self.unlengthed(version))
        defer { withExtendedLifetime(servers) {} }
        let record = try await fetch(url, mode: mode)
        #expect(record.outcome.result == .complete)
        #expect(record.outcome.body == Array("hello".utf8))
    }

    /// The outcome names the digest: without it the body is worth nothing.
    @Test(arguments: [true, false]) func aBodyThatMayBeCutOffIsTakenUnderADigest(hasCloseNotify: Bool) async throws {
        let (url, servers) = try secure(closeNotify: hasCloseNotify, Self.unlengthed("1.1"))
        defer { withExtendedLifetime(servers) {} }
        let digest = Digest.of(Array("hello".utf8), .md5)
        let outcome = try await fetch(url) { $0.endDigest = digest }.outcome
        #expect(outcome.result == .complete)
        #expect(outcome.unprovenEnd == (hasCloseNotify ? nil : digest))
    }

    @Test func aBodyOfKnownLengthIsProvenByIt() async throws {
        let (url, servers) = try secure { connection in
            guard connection.readHead() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
        }
        defer { withExtendedLifetime(servers) {} }
        let digest = Digest.of(Array("hello".utf8), .md5)
        let outcome = try await fetch(url) { $0.endDigest = digest }.outcome
        #expect(outcome.result == .complete && outcome.unprovenEnd == nil)
    }

    @Test func anErrorStatusNeedsNoEndOfItsBody() async throws {
        let (url, servers) = try secure { connection in
            guard connection.readHead() != nil else { return }
            connection.write("HTTP/1.1 404 No\r\n\r\nnothing")
        }
        defer { withExtendedLifetime(servers) {} }
        #expect(try await fetch(url, mode: .exchange).outcome.result == .complete)
        #expect(try await fetch(url).error?.httpStatus == 404)
    }

    @Test(arguments: ["Content-Length: 5", "Transfer-Encoding: chunked"])
    func aBodyWithAnEndOfItsOwnNeedsNoCloseNotify(_ field: String) async throws {
        let body = field.contains("chunked") ? "5\r\nhello\r\n0\r\n\r\n" : "hello"
        let (url, servers) = try secure { connection in
            guard connection.readHead() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\n\(field)\r\n\r\n\(body)")
        }
        defer { withExtendedLifetime(servers) {} }
        #expect(try await fetch(url).outcome.result == .complete)
    }

    @Test(arguments: ["1.0", "1.1"]) func anOrderlyEndOfAPlainConnectionEndsTheBody(_ version: String) async throws {
        let server = try RawServer(script: Self.unlengthed(version))
        let record = try await fetch(server.url("/x"))
        #expect(record.outcome.result == .complete)
        #expect(record.outcome.body == Array("hello".utf8))
    }

    @Test func aResetOfAPlainConnectionDoesNotEndTheBody() async throws {
        let server = try await FaultServer()
        server.serve("/x", .tagged(3, length: 1000), faults: [[.untilClose, .drop(after: 500)]])
        let record = try await fetch(server.url("/x"))
        #expect(record.error?.reason == .connectionLost)
    }

    // MARK: Second answers

    /// An HTTP/2 stream that is reset with HTTP_1_1_REQUIRED once the client has the beginning of its body, and after
    /// it an HTTP/1.1 connection.
    @Test(arguments: [AttemptMode.download, .exchange])
    func aBodyThatHTTP2BreaksOffIsNotContinuedByASecondAnswer(_ mode: AttemptMode) async throws {
        let hasBegun = Gate()
        let (url, servers) = try secure(http2: true) { connection in
            if connection.number == 1 {
                _ = connection.read(HTTP2Frame.preface.count)
                connection.write(
                    HTTP2Frame.settings + HTTP2Frame.head(stream: 1) + HTTP2Frame.data([1, 2, 3], stream: 1))
                hasBegun.block()
                connection.write(HTTP2Frame.reset(13, stream: 1))
                _ = connection.readAll()
            } else if connection.readHead() != nil {
                connection.write("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello")
            }
        }
        defer { withExtendedLifetime(servers) {} }
        let caFile = directory.file("ca.pem")
        let harness = try Harness()
        let attempt = try Attempt.get(url) { attempt in
            attempt.mode = mode
            attempt.session = { _ in SessionSpec(trust: TrustSettings(caFile: caFile)) }
        }
        let handle = await harness.engine.start(attempt)
        try await eventually("some bytes") { handle.progress.snapshot.offset == 3 }
        hasBegun.open()
        let record = try await harness.follow(handle)
        if mode == .download {
            #expect(record.outcome.result == .restartWithHTTP1)
        } else {
            #expect(record.error?.reason == .connectionLost)
        }
        #expect(record.outcome.body == [1, 2, 3])
    }

    @Test func anHTTP2StreamThatFailsDoesNotEndTheBody() async throws {
        let (url, servers) = try secure(http2: true) { connection in
            _ = connection.read(HTTP2Frame.preface.count)
            connection.write(
                HTTP2Frame.settings + HTTP2Frame.head(stream: 1) + HTTP2Frame.data([1, 2, 3], stream: 1)
                    // INTERNAL_ERROR
                    + HTTP2Frame.reset(2, stream: 1))
            _ = connection.readAll()
        }
        defer { withExtendedLifetime(servers) {} }
        #expect(try await fetch(url).error?.reason == .connectionLost)
    }

    @Test func theEndOfAnHTTP2StreamEndsTheBody() async throws {
        let (url, servers) = try secure(http2: true) { connection in
            _ = connection.read(HTTP2Frame.preface.count)
            connection.write(
                HTTP2Frame.settings + HTTP2Frame.head(stream: 1)
                    + HTTP2Frame.data([1, 2, 3], stream: 1, endsStream: true))
            _ = connection.readAll()
        }
        defer { withExtendedLifetime(servers) {} }
        let record = try await fetch(url)
        #expect(record.outcome.result == .complete)
        #expect(record.outcome.body == [1, 2, 3])
    }
}
