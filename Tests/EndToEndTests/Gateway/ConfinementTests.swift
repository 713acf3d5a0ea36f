import Glibc
import StrictJSON
import Testing
import XferModel
import XferProtocol
import XferTestSupport

/// What a stolen token can write. The daemon's home is the only root, as by default.
@Suite(.enabled(if: Guest.curl != nil, "needs curl"))
struct ConfinementTests {
    private let server: FaultServer
    private let remote: RemoteDaemon
    private var daemon: DaemonFixture { remote.daemon }
    private var home: String { daemon.directory.path }

    init() async throws {
        server = try await FaultServer()
        server.onAnyOther { _ in Reply(200, text: "evil") }
        server.on("/named") { _ in
            Reply(
                200, headers: [HeaderField(name: "Content-Disposition", value: #"attachment; filename=".bashrc""#)],
                text: "evil")
        }
        remote = try await RemoteDaemon()
        try daemon.configure(["download": ["roots": "[\"\(daemon.directory.path)\"]"]])
        try await daemon.stop()
        try await daemon.start()
        try await remote.isListening()
        try FileTree.write("mine", to: "\(home)/.bashrc")
        try FileTree.write("mine", to: "\(daemon.downloads)/script.sh")
    }

    /// What an attacker tries, as fields of a new task.
    private var attacks: [JSONObject] {
        let downloads = daemon.downloads
        return [
            ["dir": .string(home), "output": ".bashrc", "on_conflict": "overwrite"],
            ["output": .string("\(home)/.bashrc"), "on_conflict": "overwrite", "allow_hidden": true],
            ["output": "../.bashrc", "on_conflict": "overwrite"],
            ["dir": .string("\(home)/.ssh"), "output": "authorized_keys"],
            ["dir": .string("\(downloads)/../.ssh"), "output": "authorized_keys"],
            ["dir": .string("\(home)/bin"), "output": "ls", "mode": "0755"],
            ["dir": .string("\(downloads)/.git/hooks"), "output": "post-checkout"],
            ["output": ".envrc"],
        ]
    }

    @Test func aStolenTokenWritesNoHiddenFileAndNothingOutsideTheDirectoryForDownloads() async throws {
        for scope in ["add", "own"] {
            let token = try await remote.token(scope, scope)
            for (index, attack) in attacks.enumerated() {
                var task = attack
                task["url"] = .string(server.url("/evil"))
                let answer = try await remote.call("task.add", .object(task), token)
                #expect(answer["error"]?["code"]?.integerValue == ErrorCode.permissionDenied.rawValue, "\(index)")
                let batch = try await remote.call("batch.add", ["tasks": [.object(task)]], token)
                #expect(batch["result"]?["ids"]?.arrayValue?.isEmpty == true, "\(index): \(batch.text)")
            }
            let aria = try await aria2(
                "aria2.addUri", [[.string(server.url("/evil"))], ["dir": .string(home), "out": ".bashrc"]], token)
            #expect(aria["error"] != nil, "\(aria.text)")
        }
        #expect(try FileTree.text("\(home)/.bashrc") == "mine")
        #expect(!FileTree.exists("\(home)/.ssh") && !FileTree.exists("\(home)/bin"))
        #expect(try FileTree.entries(below: daemon.downloads) == ["script.sh"])
        try await daemon.stop()
    }

    @Test func aNameOfTheServersIsMadeHarmlessAndNoFileOfTheUsersIsReplaced() async throws {
        let token = try await remote.token("browser", "own")
        func end(_ fields: JSONObject) async throws -> JSONValue {
            let added = try await remote.call("task.add", .object(fields), token)
            let id = try #require(added["result"]?["task"]?["id"], "\(added.text)")
            let waited = try await remote.call("task.wait", ["ids": [id], "timeout": 60], token)
            return try #require(waited["result"]?["tasks"]?.arrayValue?.first, "\(waited.text)")
        }
        let named = try await end(["url": .string(server.url("/named"))])
        #expect(named["final_path"]?.stringValue == "\(daemon.downloads)/bashrc", "\(named.text)")
        let clash = try await remote.call(
            "task.add", ["url": .string(server.url("/evil")), "output": "script.sh", "on_conflict": "overwrite"], token)
        #expect(clash["error"]?["code"]?.integerValue == ErrorCode.permissionDenied.rawValue, "\(clash.text)")
        #expect(clash["error"]?["data"]?["path"]?.stringValue == "output", "\(clash.text)")
        #expect(try FileTree.text("\(daemon.downloads)/script.sh") == "mine")
        // What a token downloaded, one may download again.
        let again = try await end([
            "url": .string(server.url("/evil")), "output": "bashrc", "on_conflict": "overwrite",
        ])
        #expect(again["state"]?.stringValue == "completed", "\(again.text)")
        try await daemon.stop()
    }

    @Test func aTokenMayHaveADirectoryOfItsOwn() async throws {
        _ = try daemon.directory.makeDirectory("phone")
        let made = try await ctl(["token", "add", "phone", "--scope", "add", "--dir", "\(home)/phone"])
        #expect(made.isSuccess, "\(made)")
        let token = String(made.output.filter { !$0.isWhitespace })
        for (fields, place) in [
            ([:], "\(home)/phone/a"), (["dir": .string("\(home)/phone/b")], "\(home)/phone/b/a"),
        ] as [(JSONObject, String)] {
            var task = fields
            task["url"] = .string(server.url("/a"))
            let added = try await remote.call("task.add", .object(task), token)
            let id = try #require(added["result"]?["task"]?["id"]?.integerValue, "\(added.text)")
            try await daemon.wait(id, for: "completed")
            #expect(FileTree.exists(place))
        }
        let outside = try await remote.call(
            "task.add", ["url": .string(server.url("/a")), "dir": .string(daemon.downloads)], token)
        #expect(outside["error"]?["data"]?["path"]?.stringValue == "dir", "\(outside.text)")
        for words in [["--scope", "operate", "--dir", home], ["--scope", "own", "--dir", "/etc"]] {
            let refused = try await ctl(["token", "add", "other"] + words)
            #expect(!refused.isSuccess && refused.errors.contains("dir"), "\(refused)")
        }
        #expect(try await ctl(["token", "list"]).output.contains("\(home)/phone"))
        try await daemon.stop()
    }

    @Test func aLocalCallerIsAskedBeforeAHiddenFileOfTheHomeIsWritten() async throws {
        for words in [["-o", "\(home)/.bashrc", "--on-conflict", "overwrite"], ["-d", "\(home)/.ssh"]] {
            let refused = try await ctl(["add", server.url("/evil")] + words)
            #expect(!refused.isSuccess && refused.errors.contains("--allow-hidden"), "\(refused)")
        }
        #expect(!FileTree.exists("\(home)/.ssh"))
        let allowed = try await ctl(["add", "--wait", server.url("/a"), "-d", "\(home)/.ssh", "--allow-hidden"])
        #expect(allowed.isSuccess && FileTree.exists("\(home)/.ssh/a"), "\(allowed)")
        // Nothing is asked about hidden names elsewhere.
        let elsewhere = try await ctl(["add", "--wait", server.url("/b"), "-o", "\(daemon.downloads)/.b"])
        #expect(elsewhere.isSuccess, "\(elsewhere)")
        try daemon.configure([
            "download": ["roots": "[\"\(home)\"]", "allow_hidden": "true"]
        ])
        try await daemon.stop()
        try await daemon.start()
        let configured = try await ctl(["add", "--wait", server.url("/c"), "-d", "\(home)/.ssh"])
        #expect(configured.isSuccess, "\(configured)")
        try await daemon.stop()
    }

    private func ctl(_ words: [String]) async throws -> Command.Result {
        try await Command.run(
            "\(Command.productsDirectory)/xferctl", words, environment: daemon.environment, directory: daemon.downloads)
    }

    /// A call in the dialect of aria2.
    private func aria2(_ method: String, _ params: [JSONValue], _ token: String) async throws -> JSONValue {
        let message: JSONValue = [
            "jsonrpc": "2.0", "id": "1", "method": .string(method),
            "params": .array([.string("token:\(token)")] + params),
        ]
        let ended = try await Command.run(
            try #require(Guest.curl),
            [
                "--silent", "--header", "Content-Type: application/json", "--data-binary", message.text,
                "http://127.0.0.1:\(remote.port)/jsonrpc",
            ])
        return try JSONValue(parsing: Array(ended.output.utf8))
    }
}
