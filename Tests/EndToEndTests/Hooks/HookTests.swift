import Glibc
import StrictJSON
import Testing
import XferTestSupport

/// The operator's commands with the real daemon and real programs.
@Suite struct HookTests {
    /// A script under a directory of its own.
    private final class Scripts {
        let directory: TemporaryDirectory

        init() throws { directory = try TemporaryDirectory("hooks") }

        /// `{argv: [PATH], …}` for the configuration.
        func define(_ name: String, _ text: String, timeout: Int? = nil, more: String = "") throws -> String {
            let path = directory.file(name)
            try FileTree.write("#!/bin/sh\n" + text + "\n", to: path, mode: 0o755)
            return "{argv: [\"\(path)\"]\(timeout.map { ", timeout: \($0)" } ?? "")\(more)}"
        }

        func file(_ name: String) -> String { directory.file(name) }
    }

    private func options(_ hooks: [String: String]) -> DaemonFixture.Options {
        DaemonFixture.Options(settings: ["hooks": hooks])
    }

    /// transformDownloadedImage: the service publishes what a hook leaves, written in place or as another file.
    @Test func aHookMayReplaceTheFile() async throws {
        let scripts = try Scripts()
        let server = try await FaultServer()
        server.on("/t") { _ in Reply(200, headers: [], text: "some words\n") }
        let hooks = [
            "inplace": try scripts.define(
                "inplace", "tr a-z A-Z < \"$1\" > \(scripts.file("x")); cat \(scripts.file("x")) > \"$1\""),
            "rename": try scripts.define(
                "rename",
                "echo 'other words, and more of them' > \"$XFER_FILE.new\"; mv \"$XFER_FILE.new\" \"$XFER_FILE\""),
            "keep": try scripts.define(
                "keep", "test \"$XFER_NAME\" = kept && test \"$1\" = \"$XFER_FILE\" && grep -q '\"id\":'"),
        ]
        try await withDaemon(options(hooks)) { daemon in
            for (hook, text) in [
                ("inplace", "SOME WORDS\n"), ("rename", "other words, and more of them\n"), ("keep", "some words\n"),
            ] {
                let name = hook == "keep" ? "kept" : hook
                let id = try await daemon.add(
                    server.url("/t"), ["post_process": .string(hook), "output": .string(name)])
                let view = try await daemon.complete(id)
                #expect(try FileTree.text("\(daemon.downloads)/\(name)") == text)
                #expect(view.received == Int64(text.utf8.count) && view.total == view.received)
                #expect(FileTree.mode("\(daemon.downloads)/\(name)").map { $0 & 0o777 } == 0o644)
                let completed = try await daemon.events(of: id, types: "task.completed")
                #expect(completed.first?["size"]?.integerValue == view.received)
                let read = try await daemon.call("task.read", ["id": .integer(id)])
                #expect(read["data"]?.stringValue == text && read["eof"] == true)
            }
            try await daemon.expectDownloads(["inplace", "kept", "rename"])
        }
    }

    @Test func aFailingHookPublishesNothing() async throws {
        let scripts = try Scripts()
        let server = try await FaultServer()
        let source = SourceVersion.tagged(300, length: 200_000)
        server.serve("/f", source)
        let switched = scripts.file("on")
        let hooks = [
            "fails": try scripts.define("fails", "echo 'reason of mine' >&2; echo garbage > \"$1\"; exit 7"),
            "killed": try scripts.define("killed", "kill -KILL $$"),
            "hangs": try scripts.define("hangs", "sleep 1000", timeout: 1),
            "removes": try scripts.define("removes", "rm \"$1\""),
            "links": try scripts.define("links", "ln -sf /etc/passwd \"$1\""),
            "absent": try scripts.define("absent", "true"),
            "later": try scripts.define("later", "test -e \(switched)"),
        ]
        try await withDaemon(options(hooks)) { daemon in
            FileTree.remove(scripts.file("absent"))
            for (hook, words) in [
                ("fails", "exit code 7"), ("killed", "signal 9"), ("hangs", "in time"), ("removes", "no file"),
                ("links", "not a regular file"), ("absent", "could not be started"),
            ] {
                let id = try await daemon.add(
                    server.url("/f"), ["post_process": .string(hook), "output": .string(hook)])
                let view = try await daemon.fails(id, "post_process_failed")
                #expect(view.errorMessage.contains(words) && view.errorMessage.contains(hook), "\(view.errorMessage)")
                #expect(!FileTree.exists("\(daemon.downloads)/\(hook)"))
                _ = try await daemon.call("task.remove", ["ids": [.integer(id)]])
            }
            #expect(daemon.log.contains("reason of mine"))
            try await daemon.expectDownloads([])

            // Tried again, it goes on from the bytes that were kept.
            let id = try await daemon.add(server.url("/f"), ["post_process": "later", "output": "later"])
            try await daemon.fails(id, "post_process_failed")
            let asked = server.requests(to: "/f").count
            try FileTree.write("", to: switched)
            _ = try await daemon.call("task.retry", ["ids": [.integer(id)]])
            try expectFile(try await daemon.complete(id), is: source)
            #expect(server.requests(to: "/f").count == asked)
            try await daemon.expectDownloads(["later"])
        }
    }

    @Test func aRunningHookHoldsNoTransferSlotAndEndsWithACancel() async throws {
        let scripts = try Scripts()
        let server = try await FaultServer()
        server.serve("/f", .tagged(301, length: 50_000))
        let pids = scripts.file("pids")
        let hooks = ["slow": try scripts.define("slow", "echo $$ >> \(pids); sleep 1000", timeout: 600)]
        var options = options(hooks)
        options.settings["queue"] = ["max_active": "1"]
        try await withDaemon(options) { daemon in
            let held = try await daemon.add(server.url("/f"), ["post_process": "slow", "output": "held"])
            try await eventually("the hook runs") { FileTree.exists(pids) }
            #expect(try await daemon.task(held)["phase"] == "processing")
            try await daemon.complete(try await daemon.add(server.url("/f"), ["output": "other"]))
            _ = try await daemon.call("task.cancel", ["ids": [.integer(held)]])
            try await daemon.expectDownloads(["other"])
            let pid = try FileTree.text(pids).filter(\.isNumber)
            try await eventually("the hook is gone") { !FileTree.exists("/proc/\(pid)") }

            // A pause ends it as well, and a restart begins it again.
            let paused = try await daemon.add(server.url("/f"), ["post_process": "slow", "output": "paused"])
            try await eventually("it runs again") { try FileTree.text(pids).split(separator: "\n").count == 2 }
            _ = try await daemon.call("task.pause", ["ids": [.integer(paused)]])
            try await daemon.wait(paused, for: "paused")
            _ = try await daemon.call("task.resume", ["ids": [.integer(paused)]])
            try await eventually("and again") { try FileTree.text(pids).split(separator: "\n").count == 3 }
            try await daemon.stop()
            for pid in try FileTree.text(pids).split(separator: "\n") {
                #expect(!FileTree.exists("/proc/\(pid)"), "\(pid)")
            }
            try await daemon.start()
            try await eventually("and after a restart") { try FileTree.text(pids).split(separator: "\n").count == 4 }
            _ = try await daemon.call("task.cancel", ["ids": [.integer(paused)]])
            try await daemon.expectDownloads(["other"])
            #expect(server.requests(to: "/f").count == 3)
        }
    }

    @Test func aHookThatFloodsItsOutputCostsNeitherMemoryNorLog() async throws {
        let scripts = try Scripts()
        let server = try await FaultServer()
        server.serve("/f", .tagged(302, length: 1000))
        let hooks = [
            "flood": try scripts.define("flood", "yes 'some line or other' | head -c 104857600", timeout: 600),
            "line": try scripts.define("line", "head -c 104857600 /dev/zero | tr '\\0' a; exit 1", timeout: 600),
        ]
        try await withDaemon(options(hooks)) { daemon in
            try await daemon.complete(try await daemon.add(server.url("/f"), ["output": "warm"]))
            let (before, logged) = (try daemon.residentKibibytes, daemon.log.utf8.count)
            try await daemon.complete(try await daemon.add(server.url("/f"), ["post_process": "flood", "output": "a"]))
            try await daemon.fails(
                try await daemon.add(server.url("/f"), ["post_process": "line", "output": "b"]), "post_process_failed")
            #expect(try daemon.residentKibibytes - before < 16_384)
            // 64 KiB of lines of 22 bytes, each with what a line of the log has beside them.
            #expect(daemon.log.utf8.count - logged < 1 << 20)
            #expect(daemon.log.contains("discarded_bytes"))
        }
    }

    @Test func completionHooksReceiveTheTaskThatEnded() async throws {
        let scripts = try Scripts()
        let server = try await FaultServer()
        server.serve("/f", .tagged(303, length: 3000))
        server.on("/api") { _ in Reply(200, headers: [], text: "answer") }
        server.on("/gone") { _ in Reply(404, text: "") }
        let out = scripts.file("told")
        let hooks = [
            "tell": try scripts.define(
                "tell",
                "echo \"$XFER_OCCASION $XFER_TASK $XFER_FILE $XFER_NAME $#\" >> \(out)-$XFER_TASK; cat >> \(out)-$XFER_TASK"
            )
        ]
        try await withDaemon(options(hooks)) { daemon in
            let file = try await daemon.add(
                server.url("/f?token=geheim"), ["on_complete": "tell", "on_error": "tell", "label": "eins"])
            let data = try await daemon.add(server.url("/api"), ["kind": "data", "on_complete": "tell"])
            let upload = try await daemon.add(
                server.url("/api"), ["kind": "upload", "body": ["raw": "x"], "on_complete": "tell"])
            let failed = try await daemon.add(server.url("/gone"), ["on_complete": "tell", "on_error": "tell"])
            let blocked = try await daemon.add(server.url("/gone"), ["on_error": "tell", "output": "again"])
            for (id, head, state) in [
                (file, "on_complete \(file) \(daemon.downloads)/f f 0", "completed"),
                (data, "on_complete \(data)   0", "completed"), (upload, "on_complete \(upload)   0", "completed"),
                (failed, "on_error \(failed)   0", "failed"), (blocked, "on_error \(blocked)   0", "failed"),
            ] {
                let text = try await eventually("the hook runs for task \(id)") { () -> String? in
                    guard let text = try? FileTree.text("\(out)-\(id)"), text.hasSuffix("}\n") else { return nil }
                    return text
                }
                let lines = text.split(separator: "\n")
                #expect(lines.count == 2 && lines[0] == head, "\(text)")
                let told = try JSONValue(parsing: Array(lines[1].utf8))
                #expect(told["id"] == .integer(id) && told["state"]?.stringValue == state)
                #expect(!text.contains("geheim"))
                // As task.get gives it, but for what only a running service knows.
                let shown = try await daemon.task(id)
                for (name, value) in told.objectValue?.members ?? [] { #expect(shown[name] == value, "\(name)") }
            }
            let none = try await daemon.add(server.url("/f"), ["on_error": "tell", "output": "quiet"])
            try await daemon.complete(none)
            let cancelled = try await daemon.add(server.url("/f"), ["on_error": "tell", "paused": true])
            _ = try await daemon.call("task.cancel", ["ids": [.integer(cancelled)]])
            try await daemon.stop()
            #expect(!FileTree.exists("\(out)-\(none)") && !FileTree.exists("\(out)-\(cancelled)"))
        }
    }

    /// Killed at any moment: a hook runs at least once for every end.
    @Test func completionHooksRunAtLeastOnceAcrossKills() async throws {
        let scripts = try Scripts()
        let server = try await FaultServer()
        server.serve("/f", .tagged(304, length: 2000))
        let out = scripts.file("told")
        let hooks = ["tell": try scripts.define("tell", "sleep 0.05; echo $XFER_TASK >> \(out)")]
        try await withDaemon(options(hooks)) { daemon in
            var ids: [Int64] = []
            var random = SplitMix64(seed: 304)
            for round in 0..<Campaign.rounds(8) {
                for index in 0..<4 {
                    let name = JSONValue.string("f\(round)-\(index)")
                    ids.append(try await daemon.add(server.url("/f"), ["on_complete": "tell", "output": name]))
                }
                try await Campaign.elapse(.milliseconds(Int.random(in: 0..<120, using: &random)))
                await daemon.kill9()
                try await daemon.start()
            }
            for id in ids { try await daemon.complete(id) }
            try await eventually("all hooks have run") {
                let told = Set(((try? FileTree.text(out)) ?? "").split(separator: "\n").compactMap { Int64($0) })
                return told == Set(ids)
            }
        }
    }

    @Test func anUndefinedHookIsRefused() async throws {
        let scripts = try Scripts()
        let hooks = ["a": try scripts.define("a", "true", timeout: 5), "b": "{argv: [/bin/true], guests: true}"]
        try await withDaemon(options(hooks)) { daemon in
            for field in ["post_process", "on_complete", "on_error"] {
                let refusal = await #expect(throws: RPCRefusal.self) {
                    try await daemon.add("http://127.0.0.1:9/", [field: "nope"])
                }
                #expect(refusal?.code == -32602 && refusal?.path == field, "\(String(describing: refusal))")
                #expect(refusal?.data["expected"]?.stringValue == "one of a, b")
            }
            for kind in ["data", "upload"] {
                let refusal = await #expect(throws: RPCRefusal.self) {
                    try await daemon.add("http://127.0.0.1:9/", ["kind": .string(kind), "post_process": "a"])
                }
                #expect(refusal?.path == "post_process")
            }
            let listed = try await daemon.call("hook.list")["hooks"]?.arrayValue ?? []
            #expect(listed.map { $0["name"]?.stringValue } == ["a", "b"])
            #expect(listed.first?["timeout"] == 5 && listed.last?["guests"] == true)
            #expect(try await daemon.ctl("hook").output.contains("/bin/true"))
            // A reload defines others.
            try daemon.configure(["hooks": ["c": "{argv: [/bin/true]}"]])
            daemon.reload()
            try await eventually("it is taken over") {
                let hooks = try await daemon.call("hook.list")["hooks"]?.arrayValue ?? []
                return hooks.map { $0["name"]?.stringValue } == ["c"]
            }
        }
    }

    @Test(.enabled(if: Guest.isPossible, "needs root and setpriv"))
    func guestsMayNameOnlyHooksReleasedForGuests() async throws {
        let hooks = ["mine": "{argv: [/bin/true]}", "theirs": "{argv: [/bin/true], guests: true}"]
        try await withGuest(options(hooks)) { _, guest in
            let root = JSONValue.string(guest.root)
            let refused = try await guest.call(
                "task.add", ["url": "http://127.0.0.1:9/", "dir": root, "paused": true, "on_error": "mine"])
            #expect(refused.result == nil && refused.error.contains("on_error"), "\(refused.error)")
            #expect(
                try await guest.add(["url": "http://127.0.0.1:9/", "dir": root, "paused": true, "on_error": "theirs"])
                    > 0)
            #expect(try await guest.call("hook.list").result == nil)
        }
    }
}
