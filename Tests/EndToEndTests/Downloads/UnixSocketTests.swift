import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// `unix_socket` and `path_as_is`, as curl's `--unix-socket` and `--path-as-is`.
@Suite struct UnixSocketTests {
    private let source = SourceVersion.tagged(91, length: 300_000)

    @Test func aHostIsReachedThroughTheSocketAndOthersAreReachedAsUsual() async throws {
        let files = try TemporaryDirectory("xfer-socket")
        let path = files.file("web.sock")
        let (local, other) = (try await FaultServer(unixSocket: path), try await FaultServer())
        local.serve("/f", source, faults: [[.drop(after: 100_000, by: .close)]])
        other.serve("/far", source)
        let away = other.url("/far")
        local.on("/away") { _ in
            Reply(302, headers: [HeaderField(name: "Location", value: away)], text: "")
        }
        // The proxy does not exist: it is not used for the socket.
        let fields: JSONObject = ["unix_socket": .string(path), "output": "f", "proxy": "http://127.0.0.1:9"]
        try await withDaemon { daemon in
            let id = try await daemon.add("http://engine.test/f", fields)
            let view = try await daemon.complete(id)
            try expectFile(view, is: source)
            #expect(local.requests(to: "/f").allSatisfy { $0.header("Host") == "engine.test" })
            #expect(local.requests(to: "/f").last?.header("Range") != nil, "the rest was continued")
            #expect(view.json["unix_socket"]?.stringValue == path)

            let redirected = try await daemon.ctl(
                "add", "--wait", "--unix-socket", path, "-o", daemon.downloads + "/far", "http://engine.test/away")
            #expect(redirected.isSuccess, "\(redirected)")
            #expect(other.requests(to: "/far").count == 1 && local.requests(to: "/away").count == 1)

            // Where nothing listens nothing is fetched.
            let nothing = try await daemon.add(
                "http://engine.test/f",
                ["unix_socket": .string(files.file("none.sock")), "max_retries": 0, "kind": "data"])
            let failed = try await daemon.fails(nothing, "connect_failed")
            #expect(failed.errorMessage.contains("(through the Unix socket \(files.file("none.sock")))"))
        }
    }

    @Test func dotSegmentsAreSentAsTheyAreIfTheTaskSaysSo() async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(200, text: "here") }
        try await withDaemon { daemon in
            let kept = try await daemon.ctl(
                "add", "--wait", "--path-as-is", "-o", daemon.downloads + "/kept", server.url("/a/../b/./c"))
            let resolved = try await daemon.ctl(
                "add", "--wait", "-o", daemon.downloads + "/resolved", server.url("/a/../b/./c"))
            #expect(kept.isSuccess && resolved.isSuccess, "\(kept) \(resolved)")
            #expect(server.requests.map(\.target) == ["/a/../b/./c", "/b/c"])
        }
    }
}
