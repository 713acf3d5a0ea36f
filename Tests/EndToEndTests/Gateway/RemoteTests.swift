import Glibc
import StrictJSON
import Testing
import XferModel
import XferProtocol
import XferTestSupport

/// The real daemon with a listener, called by curl.
@Suite(.enabled(if: Guest.curl != nil, "needs curl"))
struct RemoteTests {
    @Test func aTokenAddsATaskWithinItsScopeAndEndsWhenItIsRevoked() async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(200, text: "hello") }
        let remote = try await RemoteDaemon()
        let token = try await remote.token("phone", "own")
        let url: JSONValue = .string(server.url("/file"))

        let added = try await remote.call("task.add", ["url": url], token)
        let id = try #require(added["result"]?["task"]?["id"], "\(added.text)")
        let ended = try await remote.call("task.wait", ["ids": [id], "timeout": 30], token)
        #expect(ended.text.contains(#""state":"completed""#), "\(ended.text)")

        let file = try await remote.call(
            "task.add", ["url": url, "kind": "upload", "source": "/etc/hostname"], token)
        #expect(file["error"]?["data"]?["path"]?.stringValue == "source", "\(file.text)")
        #expect(file["error"]?["data"]?["reason"]?.stringValue == "scope")
        let outside = try await remote.call("task.add", ["url": url, "dir": "/etc"], token)
        #expect(outside["error"]?["data"]?["path"]?.stringValue == "dir", "\(outside.text)")
        let itself: JSONValue = .string("http://127.0.0.1:\(remote.port)/healthz")
        let inward = try await remote.call("task.add", ["url": itself], token)
        #expect(inward["error"]?["code"]?.integerValue == ErrorCode.rejectedByPolicy.rawValue, "\(inward.text)")
        let operators = try await remote.call("profile.list", [:], token)
        #expect(operators["error"]?["data"]?["reason"]?.stringValue == "scope")

        #expect(try await remote.daemon.post("token.revoke", ["name": "phone"])["result"] == [:])
        #expect(try await remote.status("/metrics", token) == "401")
        try await remote.daemon.stop()
    }

    @Test func aTaskReachesAListenerOnAWildcardAddressByNoAddressOfLoopback() async throws {
        let remote = try await RemoteDaemon(address: "0.0.0.0", more: ", insecure: true")
        let token = try await remote.token("phone", "own")
        for host in ["127.0.0.1", "127.0.0.2", "127.255.255.254", "[::ffff:127.0.0.2]", "0.0.0.0"] {
            let url: JSONValue = .string("http://\(host):\(remote.port)/healthz")
            let answer = try await remote.call("task.add", ["url": url], token)
            #expect(answer["error"]?["code"]?.integerValue == ErrorCode.rejectedByPolicy.rawValue, "\(answer.text)")
            #expect(answer.text.contains("tasks must not call the daemon's own listener"), "\(answer.text)")
        }
        try await remote.daemon.stop()
    }

    @Test func aTokenWithoutOperateHasNoRightsOfAnOperator() async throws {
        let remote = try await RemoteDaemon()
        let (own, operate) = (try await remote.token("own", "own"), try await remote.token("all", "operate"))
        #expect(try await remote.call("daemon.config", [:], operate)["result"] != nil)
        let secret: JSONValue = [
            "url": "http://a.test/", "credential": ["scheme": "bearer", "secret": ["file": "/etc/hostname"]],
            "paused": true,
        ]
        let refused = try await remote.call("task.add", secret, own)
        #expect(refused["error"]?["code"]?.integerValue == ErrorCode.permissionDenied.rawValue, "\(refused.text)")
        for (method, params) in [
            ("token.add", ["name": "more", "scope": "operate"]), ("token.revoke", ["name": "own"]),
        ] as [(String, JSONValue)] {
            let answer = try await remote.call(method, params, operate)
            #expect(answer["error"]?["code"]?.integerValue == ErrorCode.permissionDenied.rawValue, "\(answer.text)")
        }
        try await remote.daemon.stop()
    }

    @Test func tokensSurviveARestartAndExpire() async throws {
        let remote = try await RemoteDaemon()
        let token = try await remote.token("kept", "read")
        let now = Timestamp(microseconds: Int64(clamping: time(nil)) * 1_000_000)
        let soon = now.advanced(by: .seconds(3)).wire
        let short = try await remote.token("short", "read", expiresAt: soon)
        await remote.daemon.kill9()
        try await remote.daemon.start()
        try await remote.isListening()
        #expect(try await remote.status("/metrics", token) == "200")
        try await eventually("the token expires") { try await remote.status("/metrics", short) == "401" }
        let listed = try await remote.daemon.post("token.list", [:])
        #expect(!listed.text.contains(token) && listed.text.contains(#""name":"short""#))
        let table = try await remote.daemon.ctl("token", "list").output.split(separator: "\n")
        #expect(table.filter { $0.contains("expired") }.map { $0.prefix(5) } == ["short"], "\(table)")
        try await remote.daemon.stop()
    }

    @Test func tlsServesTheCertificateThatItsFilesHoldNow() async throws {
        let files = try TemporaryDirectory("xfer-tls")
        let (first, second) = (try TestCA(name: "first"), try TestCA(name: "second"))
        func write(_ authority: TestCA) throws {
            let leaf = try authority.issue()
            try FileTree.write(leaf.privateKey, to: files.file("key.pem"))
            try FileTree.write(authority.chain(for: leaf), to: files.file("cert.pem"))
        }
        try write(first)
        for (name, authority) in [("first", first), ("second", second)] {
            try FileTree.write(authority.pem, to: files.file(name))
        }
        let tls = "tls: {certificate: \(files.file("cert.pem")), key: \(files.file("key.pem"))}"
        let remote = try await RemoteDaemon(more: ", " + tls, scheme: "https")
        let trustFirst = ["--cacert", files.file("first")]
        #expect(try await remote.status("/healthz", nil, trustFirst) == "200")
        try FileTree.write("xfer_token", to: files.file("token"))
        let plain = try await remote.daemon.ctl(
            "--server", "http://127.0.0.1:\(remote.port)", "--token-file", files.file("token"), "list")
        #expect(plain.exit == .code(4) && plain.errors.contains("write https:// in place of http://"), "\(plain)")
        #expect(try await remote.status("/healthz", nil, trustFirst + ["--tls-max", "1.2"]) == "200")
        #expect(try await remote.status("/healthz", nil, trustFirst + ["--tls-max", "1.1"]) == "000")
        try write(second)
        remote.daemon.reload()
        let trustSecond = ["--cacert", files.file("second")]
        try await eventually("the new certificate is served") {
            try await remote.status("/healthz", nil, trustSecond) == "200"
        }
        try FileTree.write("no certificate", to: files.file("cert.pem"))
        remote.daemon.reload()
        try await eventually("the fault is logged") { remote.daemon.log.contains("cannot be used for TLS") }
        #expect(try await remote.status("/healthz", nil, trustSecond) == "200")
        try await remote.daemon.stop()
    }

    @Test func aTasksFileIsSentWithRangesAsBytesToBeSaved() async throws {
        let server = try await FaultServer()
        let version = SourceVersion.tagged(1, length: 700_000)
        server.serve("/file", version)
        let remote = try await RemoteDaemon()
        let token = try await remote.token("reader", "own")
        let added = try await remote.call("task.add", ["url": .string(server.url("/file"))], token)
        let id = try #require(added["result"]?["task"]?["id"]?.integerValue, "\(added.text)")
        _ = try await remote.call("task.wait", ["ids": [.integer(id)], "timeout": 30], token)

        let whole = remote.daemon.directory.file("whole")
        #expect(try await remote.fetch("/files/\(id)", token, to: whole).hasPrefix("200 application/octet-stream"))
        let source = remote.daemon.directory.file("source")
        try version.write(to: source)
        let bytes = try FileTree.read(source)
        #expect(try FileTree.read(whole) == bytes)
        let part = remote.daemon.directory.file("part")
        let range = ["--range", "300000-300009"]
        #expect(try await remote.fetch("/files/\(id)", token, to: part, range).hasPrefix("206 "))
        #expect(try FileTree.read(part) == Array(bytes[300_000..<300_010]))
        #expect(try await remote.status("/files/\(id)", token, ["--range", "700000-"]) == "416")
        #expect(try await remote.status("/files/\(id + 1)", token) == "404")
        #expect(try await remote.status("/files/none", token) == "404")
        let headers = try await remote.fetch("/files/\(id)", token, to: part, ["--head"])
        #expect(headers.hasPrefix("200 "))
        let text = try FileTree.text(part).lowercased()
        for field in [
            #"content-disposition: attachment; filename="file""#, "nosniff", "sandbox", "content-length: 700000",
        ] {
            #expect(text.contains(field), "\(text)")
        }
        try await remote.daemon.stop()
    }

    @Test func xferctlDoesOverTLSWhatItDoesOverTheSocket() async throws {
        let server = try await FaultServer()
        server.serve("/file", .tagged(1, length: 5000))
        let files = try TemporaryDirectory("xfer-tls")
        let remote = try await RemoteDaemon.encrypted(files)
        try FileTree.write(try await remote.token("laptop", "own") + "\n", to: files.file("token"))
        let place = [
            "--server", "https://localhost:\(remote.port)", "--token-file", files.file("token"), "--server-ca",
            files.file("ca.pem"),
        ]
        func xferctl(_ arguments: String...) async throws -> Command.Result {
            try await Command.run(
                "\(Command.productsDirectory)/xferctl", arguments + place, environment: remote.daemon.environment)
        }

        let added = try await xferctl("add", "--wait", "-o", "far.bin", server.url("/file"))
        #expect(added.isSuccess && added.output.contains("completed: far.bin"), "\(added)")
        #expect(try await xferctl("list").output.contains("far.bin"))
        #expect(try await xferctl("cat", "1").output.utf8.count > 0)
        #expect(try await xferctl("events", "--since", "0", "--no-follow").output.contains("task.completed"))
        for file in [["-T", "mine.bin"], ["--data-binary", "@mine.bin"], ["-F", "a=@mine.bin"]] {
            let upload = try await xferctl("add", file[0], file[1], server.url("/up"))
            #expect(!upload.isSuccess && upload.errors.contains("\(file[0]): over --server"), "\(upload)")
        }
        let forbidden = try await xferctl("shutdown")
        #expect(!forbidden.isSuccess && forbidden.errors.contains("scope"), "\(forbidden)")

        try FileTree.write("xfer_wrong", to: files.file("token"))
        let refused = try await xferctl("list")
        #expect(refused.exit == .code(3) && refused.errors.contains("401"), "\(refused)")
        #expect(refused.errors.contains("expired") && !refused.errors.contains("no daemon"), "\(refused)")
        try await remote.daemon.stop()
    }

    @Test func withoutListenersNoThreadIsAdded() async throws {
        func loops(_ daemon: DaemonFixture) throws -> Int {
            let process = try #require(daemon.process).pid
            return try FileTree.names(in: "/proc/\(process)/task").filter { thread in
                (try? FileTree.text("/proc/\(process)/task/\(thread)/comm"))?.hasPrefix("NIO-ELT") == true
            }.count
        }
        let plain = try DaemonFixture()
        try await plain.start()
        let alone = try loops(plain)
        try await plain.stop()
        let remote = try await RemoteDaemon()
        #expect(try loops(remote.daemon) == alone + 1)
        try await remote.daemon.stop()
    }
}
