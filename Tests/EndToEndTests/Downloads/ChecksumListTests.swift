import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// Lists of digests: `add --checksums`.
@Suite struct ChecksumListDownloadTests {
    @Test func theDigestOfAPublishIsKeptShownAndComparedAlsoIfNoneWasDemanded() async throws {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(441, length: 300_000)
        server.serve("/f", source)
        let digest = source.checksum().description
        try await withDaemon { daemon in
            let demanded = try await daemon.add(server.url("/f"), ["output": "a", "checksum": .string(digest)])
            try await daemon.complete(demanded)
            #expect(try await daemon.task(demanded)["digest"] == .string(digest))
            let plain = try await daemon.add(server.url("/f"), ["output": "b"])
            try await daemon.complete(plain)
            #expect(try await daemon.task(plain)["digest"] == nil)
            let first = try await daemon.ctl("verify", "--all")
            #expect(first.isSuccess && first.output.contains("recorded \(digest)"), "\(first)")
            #expect(try await daemon.task(plain)["digest"] == .string(digest))
            // A digest that is known stays.
            let other: JSONValue = .string("sha-256=" + String(repeating: "0", count: 64))
            let kept = try await daemon.call("task.record_digest", ["id": .integer(plain), "digest": other])
            #expect(kept["digest"] == .string(digest))
            let late = try await daemon.add(server.url("/f"), ["output": "c"])
            try await daemon.complete(late)
            try FileTree.write("corrupt", to: "\(daemon.downloads)/b")
            try FileTree.write("corrupt", to: "\(daemon.downloads)/c")
            let second = try await daemon.ctl("verify", "--all")
            #expect(second.exit == .code(1) && second.output.contains("/a: right"), "\(second)")
            #expect(second.output.contains("/b: differs") && second.output.contains("/c: changed"), "\(second)")
        }
    }

    /// A task that found the file unchanged has published none: the one before it counts.
    @Test func aDamagedFileIsFoundAfterAnUpdateThatChangedNothing() async throws {
        let server = try await FaultServer()
        server.serve("/f", SourceVersion.tagged(442, length: 3000))
        try await withDaemon { daemon in
            for _ in 0..<2 {
                let added = try await daemon.ctl(
                    "add", "--wait", "--on-conflict", "update", "-d", daemon.downloads, server.url("/f"))
                #expect(added.isSuccess, "\(added)")
            }
            let first = try await daemon.ctl("verify", daemon.downloads)
            #expect(first.isSuccess && first.output.contains("recorded"), "\(first)")
            try FileTree.write("corrupt", to: "\(daemon.downloads)/f")
            let second = try await daemon.ctl("verify", daemon.downloads)
            #expect(second.exit == .code(1) && second.output.contains("/f: differs"), "\(second)")
        }
    }

    /// A name in the list counts for the file that gets it, as the name in the URL does.
    @Test func aListsDigestsAreDemandedOfFilesThatGetItsNames() async throws {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(443, length: 3000)
        server.serve("/obs1.dat", source)
        try await withDaemon { daemon in
            let (list, sums) = ("\(daemon.downloads)/list.txt", "\(daemon.downloads)/sums")
            for (name, output, digits, isRight) in [
                ("right", "right", source.checksum().hexDigits, true),
                ("wrong", "sub/wrong", String(repeating: "0", count: 64), false),
            ] {
                try FileTree.write("\(server.url("/obs1.dat"))\n  out=\(output)\n", to: list)
                try FileTree.write("\(digits)  \(name)\n", to: sums)
                let added = try await daemon.ctl(
                    "add", "--wait", "-d", daemon.downloads, "-i", list, "--checksums", sums)
                #expect(added.isSuccess == isRight, "\(added)")
                #expect(FileTree.exists("\(daemon.downloads)/\(output)") == isRight)
            }
        }
    }

    @Test func aBatchTakesTheDigestsOfAList() async throws {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(444, length: 3000)
        server.serve("/p/right", source)
        server.serve("/p/wrong", source)
        try await withDaemon { daemon in
            let (list, sums) = ("\(daemon.downloads)/list.txt", "\(daemon.downloads)/sums")
            let wrong = String(repeating: "0", count: 64)
            try FileTree.write("\(source.checksum().hexDigits)  right\n\(wrong)  wrong\n", to: sums)
            try FileTree.write(["right", "wrong", "x"].map { server.url("/p/\($0)") + "\n" }.joined(), to: list)
            let base = ["batch", "add", "--wait", "-d", daemon.downloads, "--checksums", sums]
            let added = try await daemon.ctl(base + ["-i", list])
            #expect(added.exit == .code(1) && added.errors.contains("line 3: "), "\(added)")
            #expect(added.errors.contains("has no digest for"), "\(added)")
            #expect(FileTree.exists("\(daemon.downloads)/right") && !FileTree.exists("\(daemon.downloads)/wrong"))
            let whole = try await daemon.ctl(base + ["--base-url", server.url("/p"), "--on-conflict", "verify"])
            #expect(whole.exit == .code(1) && whole.output.contains("2 of 2"), "\(whole)")
            let neither = try await daemon.ctl("batch", "add")
            #expect(neither.exit == .code(2) && neither.errors.contains("-i FILE, or --checksums"), "\(neither)")
        }
    }

    @Test func aFetchedListAddsItsFilesVerifiesThemAndCostsNothingTheSecondTime() async throws {
        let server = try await FaultServer()
        let sources = (0..<2).map { SourceVersion.tagged(UInt64(195 + $0), length: 1000) }
        for (index, source) in sources.enumerated() { server.serve("/p/f\(index)", source) }
        let lines = sources.enumerated().map { "\($1.checksum().hexDigits)  f\($0)\n" }.joined()
        server.on("/p/SHA256SUMS") { _ in Reply(200, text: lines) }
        try await withDaemon { daemon in
            func add() async throws -> Command.Result {
                try await daemon.ctl(
                    "add", "--wait", "--on-conflict", "verify", "-d", daemon.downloads, "--checksums",
                    server.url("/p/SHA256SUMS"))
            }
            let first = try await add()
            #expect(first.isSuccess && first.output.contains("2 tasks: 2 downloaded"), "\(first)")
            for (index, source) in sources.enumerated() {
                #expect(try source.equals(file: "\(daemon.downloads)/f\(index)"))
            }
            let requests = server.requests.filter { !$0.path.hasSuffix("SUMS") }.count
            let second = try await add()
            #expect(second.isSuccess && second.output.contains("2 tasks: 2 existed already"), "\(second)")
            #expect(server.requests.filter { !$0.path.hasSuffix("SUMS") }.count == requests)
            try FileTree.write("corrupt", to: "\(daemon.downloads)/f0")
            let third = try await add()
            #expect(third.output.contains("1 downloaded") && third.output.contains("1 existed already"), "\(third)")
            #expect(try sources[0].equals(file: "\(daemon.downloads)/f0"))
        }
    }

    @Test func aListWithDigestsBelowItsURLsCostsNoRequestTheSecondTimeAlsoWithoutTheTasks() async throws {
        let server = try await FaultServer()
        let sources = (0..<2).map { SourceVersion.tagged(UInt64(771 + $0), length: 5000) }
        for (index, source) in sources.enumerated() { server.serve("/l/f\(index)", source) }
        try await withDaemon { daemon in
            let list = "\(daemon.downloads)/list.txt"
            let lines = sources.enumerated()
                .map { "\(server.url("/l/f\($0)"))\n  checksum=\($1.checksum().description)\n" }
            try FileTree.write(lines.joined(), to: list)
            func add(_ policy: String) async throws -> Command.Result {
                try await daemon.ctl("add", "--wait", "--on-conflict", policy, "-d", daemon.downloads, "-i", list)
            }
            let first = try await add("verify")
            #expect(first.isSuccess && first.output.contains("2 downloaded"), "\(first)")
            let requests = server.requests.count
            for policy in ["verify", "skip"] {
                let again = try await add(policy)
                #expect(again.isSuccess && again.output.contains("2 existed already"), "\(again)")
            }
            let some = try await daemon.ctl("verify", daemon.downloads)
            #expect(some.isSuccess && some.output.contains("2 files: 2 right"), "\(some)")
            #expect(some.errors.contains("1 file here has no record"), "\(some)")
            let removed = try await daemon.ctl("remove", "--all")
            #expect(removed.isSuccess, "\(removed)")
            let none = try await daemon.ctl("verify", daemon.downloads)
            #expect(none.exit == .code(3) && none.errors.contains("history.max_age"), "\(none)")
            let last = try await add("verify")
            #expect(last.isSuccess && last.output.contains("2 existed already"), "\(last)")
            #expect(server.requests.count == requests)
        }
    }
}
