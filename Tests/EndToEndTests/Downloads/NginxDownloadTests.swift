import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// The main job with nothing wrong: from a real server to a published file.
@Suite(.enabled(if: NginxFixture.isInstalled, "needs nginx-light")) struct NginxDownloadTests {
    @Test func aDownloadOverHTTPIsVerifiedAndPublishedWithItsMode() async throws {
        let nginx = try await NginxFixture()
        let source = SourceVersion.tagged(1, length: 20 << 20)
        try nginx.publish(source, as: "big.bin")
        let checksum = JSONValue.string(source.checksum().description)
        try await withTask(nginx.url("/big.bin"), ["checksum": checksum, "mode": "0600"]) { daemon, id in
            let view = try await daemon.complete(id)
            try expectFile(view, is: source)
            #expect(view.finalPath == "\(daemon.downloads)/big.bin")
            #expect(FileTree.mode("\(daemon.downloads)/big.bin") == 0o600)
            #expect(view.total == 20 << 20)
            try await daemon.expectDownloads(["big.bin"])
            let types = try await daemon.eventTypes(of: id)
            #expect(types == ["task.added", "task.started", "task.response", "task.completed"])
        }
        #expect(try nginx.log.count == 1)
    }

    @Test func aDownloadOverHTTP2TrustsAConfiguredAuthority() async throws {
        let ca = try TestCA()
        let leaf = try ca.issue()
        var options = NginxFixture.Options()
        options.tls = (ca.chain(for: leaf), leaf.privateKey)
        let nginx = try await NginxFixture(options)
        let source = SourceVersion.tagged(2, length: 3_000_000)
        try nginx.publish(source, as: "f")
        let scratch = try TemporaryDirectory()
        try FileTree.write(ca.pem, to: scratch.file("ca.pem"))
        let trust = DaemonFixture.Options(settings: ["trust": ["ca_file": scratch.file("ca.pem")]])
        try await withTask(nginx.secureURL("/f"), [:], trust) { daemon, id in
            try expectFile(try await daemon.complete(id), is: source)
        }
        #expect(try nginx.log.map(\.httpVersion) == ["HTTP/2.0"])
    }

    static let defects: [(String, @Sendable (TestCA) throws -> TestCertificate)] = [
        ("expired", { try $0.issue(.expired) }), ("not yet valid", { try $0.issue(.notYetValid) }),
        ("wrong host", { try $0.issue(.wrongHost) }), ("self-signed", { _ in try TestCA.selfSigned() }),
        ("other authority", { _ in try TestCA().issue() }),
    ]

    @Test(arguments: defects.indices) func aBadCertificateIsAPermanentFailure(_ index: Int) async throws {
        let ca = try TestCA()
        let leaf = try Self.defects[index].1(ca)
        var options = NginxFixture.Options()
        options.tls = (leaf.certificate, leaf.privateKey)
        let nginx = try await NginxFixture(options)
        try nginx.publish(.tagged(3, length: 1000), as: "f")
        let scratch = try TemporaryDirectory()
        try FileTree.write(ca.pem, to: scratch.file("ca.pem"))
        let trust = DaemonFixture.Options(settings: ["trust": ["ca_file": scratch.file("ca.pem")]])
        try await withTask(nginx.secureURL("/f"), [:], trust) { daemon, id in
            let view = try await daemon.fails(id, "trust_rejected")
            #expect(view.errorMessage.lowercased().contains("certificate"), "\(Self.defects[index].0)")
            #expect(view.json["attempts"]?.integerValue ?? 1 <= 1)
            try await daemon.expectDownloads([])
        }
        #expect(try nginx.log.isEmpty)
    }

    @Test func aHundredSmallDownloadsCompleteOverFewConnections() async throws {
        let nginx = try await NginxFixture()
        let sources = (0..<100).map { SourceVersion.tagged($0, length: Int64($0) * 37) }
        for source in sources { try nginx.publish(source, as: "\(source.seed)") }
        try await withDaemon { daemon in
            let entries = sources.map { JSONValue.object(["url": .string(nginx.url("/\($0.seed)"))]) }
            let result = try await daemon.call("task.add", ["tasks": .array(entries)])
            let ids = try #require(result["ids"]?.arrayValue)
            #expect(ids.count == 100)
            let waited = try await daemon.call(
                "task.wait", ["ids": .array(ids), "timeout": .integer(Int64(100 * Patience.factor))])
            #expect(waited["timed_out"] == false)
            for source in sources { #expect(try source.equals(file: "\(daemon.downloads)/\(source.seed)")) }
            #expect(try daemon.downloaded.count == 100)
            // Keep-alive: never more connections than transfers at once.
            #expect(Set(try nginx.log.map(\.connection)).count <= 4)
        }
    }

    @Test(arguments: ["rename", "overwrite", "skip", "fail", "update", "verify"])
    func aTakenNameIsHandledByTheConflictPolicy(
        _ policy: String
    ) async throws {
        var options = NginxFixture.Options()
        options.directives = "if_modified_since before;"
        let nginx = try await NginxFixture(options)
        let source = SourceVersion.tagged(4, length: 5000)
        try nginx.publish(source, as: "f.tar.gz")
        try await withDaemon { daemon in
            try FileTree.write("mine", to: "\(daemon.downloads)/f.tar.gz")
            let fields: JSONObject = ["on_conflict": .string(policy), "output": "f.tar.gz"]
            let id = try await daemon.add(nginx.url("/f.tar.gz"), fields)
            let view = try await daemon.finish(id)
            let kept = try FileTree.text("\(daemon.downloads)/f.tar.gz") == "mine"
            switch policy {
            case "rename":
                #expect(view.finalPath == "\(daemon.downloads)/f (1).tar.gz")
                #expect(kept)
                try expectFile(view, is: source)
            case "overwrite", "update", "verify":
                // The service did not publish the existing file, so it has no validator for a conditional request.
                try expectFile(view, is: source)
                try await daemon.expectDownloads(["f.tar.gz"])
            case "skip":
                #expect(view.state == "completed" && view.json["skipped"] == true)
                #expect(kept)
                #expect(try nginx.log.isEmpty)
            default:
                #expect(view.errorReason == "destination_exists")
                #expect(kept)
            }
        }
    }

    @Test func anUpdateDownloadsOnlyANewerVersion() async throws {
        let server = try await FaultServer()
        let served = server.serve("/f", .tagged(5, length: 5000))
        try await withDaemon { daemon in
            try await daemon.complete(try await daemon.add(server.url("/f"), ["on_conflict": "update"]))
            let again = try await daemon.complete(try await daemon.add(server.url("/f"), ["on_conflict": "update"]))
            #expect(again.json["not_modified"] == true)
            #expect(server.requests.map(\.status) == [200, 304])
            served.replace(with: .tagged(6, length: 6000))
            let third = try await daemon.complete(try await daemon.add(server.url("/f"), ["on_conflict": "update"]))
            try expectFile(third, is: .tagged(6, length: 6000))
            try await daemon.expectDownloads(["f"])
        }
    }
}
