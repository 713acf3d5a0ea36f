import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// Uploads in one request, through the real daemon to nginx.
@Suite struct PlainUploadTests {
    private static var dav: NginxFixture.Options {
        var options = NginxFixture.Options()
        options.directives = "dav_methods PUT; client_max_body_size 0;"
        return options
    }

    @Test func anUploadOfAQuarterGibibyteDoesNotGrowTheDaemon() async throws {
        let nginx = try await NginxFixture(Self.dav)
        let version = SourceVersion.tagged(31, length: 256 << 20)
        try await withDaemon { daemon in
            let source = nginx.root + "/source"
            try nginx.publish(version, as: "source")
            let before = try daemon.residentKibibytes
            let id = try await daemon.add(nginx.url("/up"), ["kind": "upload", "source": .string(source)])
            var peak = before
            let end = try await eventually("the upload ends", within: Patience.long) { () -> TaskView? in
                peak = max(peak, try daemon.residentKibibytes)
                let view = try await daemon.view(id)
                return view.isTerminal ? view : nil
            }
            #expect(end.state == "completed", "\(end.json.text)")
            #expect(end.json["progress"]?["sent"]?.integerValue == version.length)
            #expect(end.total == version.length)
            #expect(try version.equals(file: nginx.root + "/up"))
            #expect(peak - before < 32 << 10, "\(before) KiB, then \(peak) KiB")
        }
    }

    @Test func aLimitedUploadReportsItsProgressAndFollowsAChangedLimit() async throws {
        let nginx = try await NginxFixture(Self.dav)
        let version = SourceVersion.tagged(37, length: 4 << 20)
        try await withDaemon { daemon in
            let source = nginx.root + "/source"
            try nginx.publish(version, as: "source")
            let id = try await daemon.add(
                nginx.url("/up"), ["kind": "upload", "source": .string(source), "max_send_rate": 65_536])
            let part = try await eventually("something is sent, not all") { () -> TaskView? in
                let view = try await daemon.view(id)
                return (view.json["progress"]?["sent"]?.integerValue ?? 0) > 0 ? view : nil
            }
            #expect(part.state == "running")
            #expect(part.total == version.length)
            _ = try await daemon.call(
                "task.update", ["id": .integer(id), "changes": ["max_send_rate": 0]])
            try await daemon.complete(id)
            #expect(try version.equals(file: nginx.root + "/up"))
        }
    }

    @Test func aSpooledSourceMayBeDeletedOnceTheAddIsAnswered() async throws {
        let nginx = try await NginxFixture(Self.dav)
        let version = SourceVersion.tagged(41, length: 1 << 20)
        try await withDaemon { daemon in
            let source = nginx.root + "/source"
            try nginx.publish(version, as: "source")
            let fields: JSONObject = [
                "kind": "upload", "source": .string(source), "spool": true, "paused": true, "client_key": "job-1",
            ]
            let id = try await daemon.add(nginx.url("/up"), fields)
            // The same add again finds it, and leaves no second copy behind.
            #expect(try await daemon.add(nginx.url("/up"), fields) == id)
            let spool = daemon.stateDirectory + "/spool"
            try await eventually("one copy") { try FileTree.entries(below: spool).count == 1 }
            FileTree.remove(source)
            await daemon.kill9()
            try await daemon.start()
            _ = try await daemon.call("task.resume", ["ids": [.integer(id)]])
            try await daemon.complete(id)
            #expect(try version.equals(file: nginx.root + "/up"))
            try await eventually("the copy is gone") { try FileTree.entries(below: spool).isEmpty }
        }
    }
}
