import StrictJSON
import Testing
import XferTestSupport

/// Uploads over TLS, through the real daemon to nginx.
@Suite(.enabled(if: NginxFixture.isInstalled)) struct SecureUploadTests {
    private func run(
        _ fields: JSONObject, length: Int64 = 20_000_001,
        body: (DaemonFixture, NginxFixture, SourceVersion, Int64) async throws -> Void
    ) async throws {
        let trust = try TrustFixture()
        let leaf = try trust.authority.issue()
        var options = NginxFixture.Options()
        options.tls = (trust.authority.chain(for: leaf), leaf.privateKey)
        options.directives = "dav_methods PUT; create_full_put_path on; client_max_body_size 0;"
        let nginx = try await NginxFixture(options)
        let source = try UploadSource(seed: 74, length: length)
        try await withDaemon(trust.options()) { daemon in
            var all = fields
            all["kind"] = "upload"
            all["source"] = .string(source.path)
            let id = try await daemon.add(nginx.secureURL("/stored/a"), all)
            try await body(daemon, nginx, source.version, id)
        }
    }

    @Test func aFileUploadedOverHTTP2ArrivesUnchanged() async throws {
        try await run([:]) { daemon, nginx, version, id in
            let view = try await daemon.complete(id)
            #expect(try version.equals(file: nginx.root + "/stored/a"))
            #expect(view.json["progress"]?["sent"]?.integerValue == version.length)
            #expect(view.total == version.length)
            try await eventually("the request is logged") { try nginx.log.map(\.httpVersion) == ["HTTP/2.0"] }
        }
    }

    /// Three seconds' worth; a burst of one, and what the system takes in, may come off.
    @Test func aSendLimitAppliesToAnUploadOverHTTPS() async throws {
        let limit: Int64 = 400_000
        try await run(["max_send_rate": .integer(limit)], length: 1_200_000) { daemon, nginx, version, id in
            let start = ContinuousClock.now
            let view = try await daemon.complete(id)
            let took = start.duration(to: .now)
            #expect(took > .seconds(1), "\(version.length) bytes at \(limit) a second took \(took)")
            #expect(try version.equals(file: nginx.root + "/stored/a"))
            #expect(view.json["progress"]?["sent"]?.integerValue == version.length)
        }
    }

    @Test func anUploadReportsProgressAndFollowsALiftedLimit() async throws {
        try await run(["max_send_rate": 65_536], length: 4 << 20) { daemon, nginx, version, id in
            let part = try await eventually("something is sent") { () -> TaskView? in
                let view = try await daemon.view(id)
                return (view.json["progress"]?["sent"]?.integerValue ?? 0) > 0 ? view : nil
            }
            #expect(part.state == "running")
            #expect(part.total == version.length)
            #expect((part.json["progress"]?["sent"]?.integerValue ?? 0) < version.length)
            _ = try await daemon.call("task.update", ["id": .integer(id), "changes": ["max_send_rate": 0]])
            try await daemon.complete(id)
            #expect(try version.equals(file: nginx.root + "/stored/a"))
        }
    }
}
