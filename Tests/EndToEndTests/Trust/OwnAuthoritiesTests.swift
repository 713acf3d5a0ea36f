import StrictJSON
import Testing
import XferTestSupport

/// `ca_file`, as curl's `--cacert`: a task's own certificate authorities.
@Suite struct OwnAuthoritiesTests {
    @Test func aTaskTrustsTheAuthoritiesThatItNamesAndNoOthers() async throws {
        let files = try TemporaryDirectory("xfer-ca")
        let (own, other) = (try TestCA(name: "own"), try TestCA(name: "other"))
        try FileTree.write(own.pem, to: files.file("own.pem"))
        try FileTree.write(other.pem, to: files.file("other.pem"))
        try FileTree.write("no certificate", to: files.file("none.pem"))
        let leaf = try own.issue()
        var options = TLSServer.Options(chain: leaf.certificate, privateKey: leaf.privateKey)
        options.headers = "Content-Length: 6\r\nStrict-Transport-Security: max-age=1000\r\n"
        let server = try TLSServer(options)
        let url = "https://localhost:\(server.port)/a"
        try await withDaemon { daemon in
            let added = try await daemon.ctl("add", "--wait", "--cacert", files.file("own.pem"), "-o", "mine", url)
            #expect(added.isSuccess, "\(added)")
            // Neither the task nor its connection says anything to other tasks.
            for fields in [
                [:], ["ca_file": .string(files.file("other.pem"))], ["ca_file": .string(files.file("none.pem"))],
            ]
                as [JSONObject]
            {
                let id = try await daemon.add(url, fields)
                let task = try await daemon.wait(id, for: "failed")
                #expect(task["error"]?["reason"]?.stringValue == "trust_rejected", "\(task.text)")
            }
            #expect(try await daemon.call("hsts.list")["hosts"] == [])
            let missing = try await daemon.ctl("add", "--cacert", files.file("missing.pem"), url)
            #expect(!missing.isSuccess && missing.errors.contains("--cacert"), "\(missing)")
            let fields: JSONValue = ["url": .string(url), "ca_file": .string(files.file("own.pem")), "store": true]
            let cached = try await daemon.ctl("rpc", "task.add", fields.text)
            #expect(!cached.isSuccess && cached.errors.contains("ca_file"), "\(cached)")
        }
    }
}
