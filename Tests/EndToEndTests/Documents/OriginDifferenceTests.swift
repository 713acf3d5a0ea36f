import StrictJSON
import Testing
import XferTestSupport

/// "Here it differs, because" of docs/origins.md, where no other test shows it.
@Suite struct OriginDifferenceTests {
    @Test func anAddThatIsRefusedLeavesTheTaskOfItsSlotRunning() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        server.serve("/f", .tagged(1, length: 300_000)).always(.stall(at: 100_000, until: gate))
        try await withDaemon { daemon in
            let id = try await daemon.add(server.url("/f"), ["slot": "avatar"])
            try await daemon.waitForBytes(1, of: id)
            for url: JSONValue in [.null, "", "nonsense", 7] {
                let refusal = try await daemon.refusal("task.add", ["url": url, "slot": "avatar"])
                #expect(refusal != nil, "\(url.text)")
            }
            #expect(try await daemon.view(id).state == "running")
            #expect(try await daemon.call("slot.get", ["slot": "avatar"])["task"]?["id"] == .integer(id))
            gate.open()
            try await daemon.complete(id)
        }
    }

    @Test func aHookForADataTaskIsRefused() async throws {
        let options = DaemonFixture.Options(settings: ["hooks": ["own": "{argv: [/bin/true]}"]])
        try await withDaemon(options) { daemon in
            for kind in ["data", "upload"] {
                let task: JSONValue = [
                    "url": "http://127.0.0.1:9/f", "kind": .string(kind), "body": ["raw": "x"], "post_process": "own",
                ]
                let refusal = String(describing: try await daemon.refusal("task.add", task))
                #expect(refusal.contains("post_process"), "\(kind): \(refusal)")
            }
        }
    }

    @Test func anEmptyBatchIsRefused() async throws {
        try await withDaemon { daemon in
            let refusal = try await daemon.refusal("batch.add", ["tasks": []])
            #expect(refusal != nil)
        }
    }

    @Test func truthValuesOfParametersAreWords() async throws {
        try await withDaemon { daemon in
            let id = try await daemon.add(
                "http://127.0.0.1:9/f", ["paused": true, "params": ["a": true, "b": false, "c": 1, "d": nil]])
            #expect(try await daemon.task(id)["url"] == "http://127.0.0.1:9/f?a=true&b=false&c=1&d")
        }
    }

    @Test func theCacheKeepsTheResponseAndNotWhatAHookMadeOfIt() async throws {
        let server = try await FaultServer()
        let source = SourceVersion.cached(3, "max-age=600")
        server.serve("/f", source)
        let scripts = try TemporaryDirectory("hooks")
        let script = scripts.file("replace")
        try FileTree.write("#!/bin/sh\necho made > \"$1\"\n", to: script, mode: 0o755)
        let options = DaemonFixture.Options(settings: ["hooks": ["replace": "{argv: [\"\(script)\"]}"]])
        try await withDaemon(options) { daemon in
            let made = try await daemon.fetch(
                server.url("/f"), .download, "protocol", ["post_process": "replace", "output": "made"])
            #expect(made.bytes == Array("made\n".utf8))
            let plain = try await daemon.fetch(server.url("/f"), .download, "only_if_cached", ["output": "plain"])
            #expect(plain.bytes == source.bytes && server.requests.count == 1)
        }
    }

    @Test func aCachedResponseOfADeniedHostIsRefusedToo() async throws {
        let server = try await FaultServer()
        let source = SourceVersion.cached(4, "max-age=600")
        server.serve("/f", source)
        try await withDaemon { daemon in
            _ = try await daemon.fetch(server.url("/f"), .download, "protocol")
            try await daemon.stop()
            try daemon.configure(["network": ["deny_addresses": "[127.0.0.1]"]])
            try await daemon.start()
            let asked: JSONValue = ["url": .string(server.url("/f")), "cache_policy": "only_if_cached"]
            let refusal = try await daemon.refusal("task.add", asked)
            #expect(refusal?.reason == "rejected_by_policy")
        }
    }
}
