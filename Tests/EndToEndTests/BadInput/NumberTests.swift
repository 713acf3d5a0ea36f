import Glibc
import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// Numbers at the ends of their range, from clients, servers and files: the daemon answers, and goes on.
@Suite struct NumberTests {
    private static let cut: Int64 = 100_000
    private let source = SourceVersion.tagged(60, length: 300_000)

    /// Expects that the daemon is the one that was started, and answers.
    private func expectAlive(_ daemon: DaemonFixture, since pid: JSONValue?) async throws {
        #expect(try await daemon.call("daemon.status")["pid"] == pid)
    }

    @Test(arguments: [
        "bytes 0-9223372036854775806/9223372036854775807", "bytes 100000-9223372036854775806/9223372036854775807",
        "bytes 0-4611686018427387903/4611686018427387904", "bytes 0-9223372036854775807/9223372036854775808",
    ]) func aPartialResponseLongerThanAnyFileStartsTheDownloadOver(range: String) async throws {
        let server = try await FaultServer()
        let lie = Fault("206 \(range), ten bytes") { reply, _ in
            reply.setHeader("Content-Range", range)
            reply.setHeader("Content-Length", nil)
            reply.setHeader("Connection", "close")
            reply.truncateBody(to: 10)
            reply.ending = .close
        }
        server.serve("/f", source, faults: [[.chunked, .drop(after: Self.cut)], [lie]])
        try await withDaemon { daemon in
            let pid = try await daemon.call("daemon.status")["pid"]
            let id = try await daemon.add(server.url("/f"))
            try expectFile(try await daemon.complete(id), is: source)
            try await daemon.expectDownloads(["f"])
            try await expectAlive(daemon, since: pid)
        }
    }

    @Test(arguments: [Int64.max, .max - 1, 1 << 62, 1 << 53] as [Int64])
    func subscribingAfterASequenceNumberThatIsNeverReachedIsRefusedOrYieldsNoEvents(seq: Int64) async throws {
        try await withDaemon { daemon in
            let pid = try await daemon.call("daemon.status")["pid"]
            let session = try daemon.session()
            for (method, name) in [("events.since", "seq"), ("events.subscribe", "since")] {
                do {
                    _ = try await session.call(method, .object([name: .integer(seq)]))
                } catch let refusal as RPCRefusal {
                    #expect(refusal.code == -32602 && refusal.path == name, "\(refusal)")
                    #expect(
                        refusal.message.contains("an integer from 0 to") || refusal.reason == "beyond_the_log",
                        "\(refusal)")
                }
            }
            for request in ["GET /events HTTP/1.1\r\nLast-Event-ID: \(seq)", "GET /events?since=\(seq) HTTP/1.1"] {
                let socket = try UnixSocket(connectedTo: daemon.socket)
                try await socket.send(request + "\r\nHost: localhost\r\n\r\n")
                #expect(try await socket.readLine()?.hasPrefix("HTTP/1.1 ") == true)
            }
            try await expectAlive(daemon, since: pid)
        }
    }

    @Test func aSubscriptionBeginsAtTheNewestEventAndNotBeyondIt() async throws {
        try await withDaemon { daemon in
            _ = try await daemon.add("http://127.0.0.1:9/", ["paused": true])
            let session = try daemon.session()
            func newest(beyond since: Int64) async throws -> Int64? {
                do {
                    _ = try await session.call("events.subscribe", ["since": .integer(since)])
                    return nil
                } catch let refusal as RPCRefusal {
                    #expect(refusal.reason == "beyond_the_log" && refusal.path == "since", "\(refusal)")
                    return try #require(refusal.data["limit"]?.integerValue)
                }
            }
            let last = try #require(try await newest(beyond: 1 << 53))
            #expect(try await newest(beyond: last) == nil)
            // An event of the start may still come between two calls.
            try await eventually("one beyond the newest is refused") {
                guard let now = try await newest(beyond: 1 << 53) else { return false }
                return try await newest(beyond: now + 1) == now
            }
            let page = try await session.call("events.since", ["seq": .integer(1 << 53)])
            #expect(try #require(page["last_seq"]?.integerValue) >= last && page["events"]?.arrayValue == [])
        }
    }

    /// On tmpfs, whose times have 64 bits (ext4's stop at 1901 and 2446).
    @Test(arguments: [16_725_225_600, -16_725_225_600, 1 << 40] as [Int])
    func aFileModifiedInAnotherMillenniumIsUploadedLikeAnyOther(seconds: Int) async throws {
        let directory = try TemporaryDirectory("xfer-source", in: "/dev/shm")
        let version = SourceVersion.tagged(61, length: 100_000)
        try version.write(to: directory.file("old"))
        var times = [timespec(tv_sec: seconds, tv_nsec: 1), timespec(tv_sec: seconds, tv_nsec: 1)]
        try #require(utimensat(AT_FDCWD, directory.file("old"), &times, 0) == 0)
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(201, text: "thanks") }
        let path = JSONValue.string(directory.file("old"))
        let uploads: [JSONObject] = [
            ["kind": "upload", "method": "PUT", "source": path],
            ["kind": "data", "method": "PUT", "body": ["file": path]],
            ["kind": "upload", "method": "POST", "parts": [["name": "a", "file": path]]],
        ]
        try await withDaemon { daemon in
            let pid = try await daemon.call("daemon.status")["pid"]
            for upload in uploads { try await daemon.complete(try await daemon.add(server.url("/u"), upload)) }
            try await expectAlive(daemon, since: pid)
        }
        #expect(server.requests.count == uploads.count)
        #expect(server.requests.first?.body == version.bytes)
    }

    /// OpenSSL parses such a certificate and leaves its dates as they are.
    @Test func aPinnedCertificateWithUnreadableDatesIsRefused() async throws {
        var der = try TestCA().issue().der
        // UTCTime (tag 0x17) of thirteen characters that end in Z.
        let dates = der.indices.dropLast(15).filter { der[$0] == 0x17 && der[$0 + 1] == 13 && der[$0 + 14] == 0x5A }
        try #require(dates.count == 2)
        for start in dates { der.replaceSubrange(start + 2..<start + 14, with: Array("999999999999".utf8)) }
        let text = Base64.encode(der)
        let lines = stride(from: 0, to: text.count, by: 64).map { String(text.dropFirst($0).prefix(64)) }
        let pem = (["-----BEGIN CERTIFICATE-----"] + lines + ["-----END CERTIFICATE-----", ""]).joined(separator: "\n")
        let policy: JSONObject = ["name": "a", "mode": "certificate", "hosts": ["a.test"], "pins": [.string(pem)]]
        try await withDaemon { daemon in
            let pid = try await daemon.call("daemon.status")["pid"]
            let refusal = await #expect(throws: RPCRefusal.self) {
                try await daemon.call("policy.set", ["policy": .object(policy)])
            }
            #expect(refusal?.path?.hasPrefix("policy.pins") == true, "\(String(describing: refusal))")
            try await expectAlive(daemon, since: pid)
        }
    }
}
