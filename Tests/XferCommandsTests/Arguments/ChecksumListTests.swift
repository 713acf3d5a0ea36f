import StrictJSON
import Testing
import XferModel
import XferTestSupport

@testable import XferCommands

@Suite struct ChecksumListTests {
    private static let one = String(repeating: "1", count: 64)
    private static let two = String(repeating: "2", count: 64)
    private static let md5 = String(repeating: "3", count: 32)

    private func names(_ text: String, title: String = "SHA256SUMS") -> [String: String] {
        let entries = ChecksumList(text, title: title).entries
        return Dictionary(entries.map { ($0.name, $0.checksum.description) }) { $1 }
    }

    @Test func linesOfGNUAndBSDAreRead() {
        let text = """
            \(Self.one)  a.iso
            \(Self.two) *b c.iso\r
            SHA256 (d (1).iso) = \(Self.one)
            MD5 (e) = \(Self.md5)
            \(Self.two)  ./sub/f

            # comment
            """
        #expect(
            names(text) == [
                "a.iso": "sha-256=\(Self.one)", "b c.iso": "sha-256=\(Self.two)", "d (1).iso": "sha-256=\(Self.one)",
                "e": "md5=\(Self.md5)", "sub/f": "sha-256=\(Self.two)",
            ])
    }

    /// sha256sum(1): "a backslash and newline are escaped, and the line begins with a backslash".
    @Test func escapedNamesOfGNUAreDecoded() {
        #expect(names("\\\(Self.one)  a\\\\b\\nc\n") == ["a\\b\nc": "sha-256=\(Self.one)"])
        #expect(names("\(Self.one)  a\\nb\n") == ["a\\nb": "sha-256=\(Self.one)"])
    }

    /// GNU coreutils: "a space, a flag indicating binary ('*') or text (' ') mode, and the file name".
    @Test(arguments: [
        ("  *star.txt", "*star.txt"), (" **star.txt", "*star.txt"), ("   lead.txt", " lead.txt"),
        (" * lead.txt", " lead.txt"), (" *bin", "bin"), (" bare", "bare"), ("\ttab", "tab"),
    ])
    func afterTheMarkEveryCharacterBelongsToTheName(rest: String, name: String) {
        #expect(names(Self.one + rest) == [name: "sha-256=\(Self.one)"])
    }

    @Test func aNameAlignedWithBlanksIsFoundByTheURLUnlessAnotherOneHasIt() {
        let aligned = ChecksumList("\(Self.one)     b.txt\n", title: "S")
        #expect(aligned.checksum(for: "https://h/b.txt")?.hexDigits == Self.one)
        #expect(aligned.inputList(beneath: ["https://h"]).entries.first?.warnings.map(\.line) == [1])
        let exact = ChecksumList("\(Self.one)     b.txt\n\(Self.two)  b.txt\n", title: "S")
        #expect(exact.checksum(for: "https://h/b.txt")?.hexDigits == Self.two)
        #expect(exact.inputList(beneath: ["https://h"]).entries.map(\.warnings.count) == [1, 0])
        let ambiguous = ChecksumList("\(Self.one)     b.txt\n\(Self.two)    b.txt\n", title: "S")
        #expect(ambiguous.checksum(for: "https://h/b.txt") == nil)
    }

    @Test func aListWithAnAlignedNameWarnsWhenAllItsFilesAreAdded() async throws {
        let directory = try TemporaryDirectory()
        try FileTree.write("\(Self.one)  a\n\(Self.two)     b\n", to: directory.file("S"))
        let daemon = try ScriptedDaemon { _, _ in .result(["ids": [1, 2], "existing": []]) }
        let result = try await Program.run(
            ["add", "--checksums", "S", "--base-url", "http://h"], daemon: daemon, directory: directory.path)
        #expect(result.exit == .code(0) && result.errors.contains("line 2: S: the name begins or ends"), "\(result)")
    }

    @Test func aClearSignedListEndsAtItsSignature() {
        let text = """
            -----BEGIN PGP SIGNED MESSAGE-----
            Hash: SHA256

            # Fedora-Server.iso: 5 bytes
            SHA256 (Fedora-Server.iso) = \(Self.one)
            -----BEGIN PGP SIGNATURE-----

            \(Self.two)  forged
            -----END PGP SIGNATURE-----
            """
        let list = ChecksumList(text, title: "CHECKSUM")
        #expect(list.entries.map(\.name) == ["Fedora-Server.iso"] && list.refused.isEmpty)
    }

    @Test(arguments: ["../a", "/etc/passwd", "a/../b", "a//b", "a/./b", ".."])
    func namesThatLeadElsewhereAreRefused(name: String) {
        let list = ChecksumList("\(Self.one)  \(name)\n\(Self.two)  good\n", title: "S")
        #expect(list.entries.map(\.name) == ["good"] && list.refused.map(\.line) == [1])
    }

    @Test func aFileListedTwiceIsRefusedUnlessTheDigestsAgreeOrOneIsLonger() {
        let same = ChecksumList("\(Self.one)  a\n\(Self.one)  a\n", title: "S")
        #expect(same.entries.count == 1 && same.refused.isEmpty)
        let other = ChecksumList("\(Self.one)  a\n\(Self.two)  a\n", title: "S")
        #expect(other.entries.isEmpty && other.refused.map(\.line) == [2])
        for text in ["\(Self.md5)  a\n\(Self.one)  a\n", "\(Self.one)  a\n\(Self.md5)  a\n"] {
            #expect(names(text) == ["a": "sha-256=\(Self.one)"])
        }
    }

    @Test func aDigestAloneIsForTheFileThatItsListIsNamedAfter() {
        #expect(names(Self.one, title: "/d/image.iso.sha256") == ["image.iso": "sha-256=\(Self.one)"])
        #expect(names(Self.one, title: "https://h/x/i.iso.sha256?a=b.c") == ["i.iso": "sha-256=\(Self.one)"])
    }

    @Test func theDigestIsFoundByThePathOfTheURLOrByTheNameOfTheFile() {
        let list = ChecksumList("\(Self.one)  x/a b.iso\n\(Self.two)  y/c\n\(Self.one)  z/c\n", title: "S")
        #expect(list.checksum(for: "https://h/pool/x/a%20b.iso?token=1")?.hexDigits == Self.one)
        #expect(list.checksum(for: "https://h/a%20b.iso")?.hexDigits == Self.one)
        #expect(list.checksum(for: "https://h/latest", output: "/d/a b.iso")?.hexDigits == Self.one)
        #expect(list.checksum(for: "https://h/y/c")?.hexDigits == Self.two)
        // Two files have this name.
        #expect(list.checksum(for: "https://h/c") == nil && list.checksum(for: "https://h/unknown") == nil)
    }

    @Test func aListWithoutURLsBecomesDownloadsBeneathItsBase() throws {
        let list = ChecksumList("\(Self.one)  x/a b#.iso\n", title: "S").inputList(beneath: ["https://h/p"])
        let entry = try #require(list.entries.first)
        #expect(entry.urls == ["https://h/p/x/a%20b%23.iso"])
        #expect(
            entry.options.map { "\($0.name)=\($0.value)" } == ["out=x/a b#.iso", "checksum=sha-256=\(Self.one)"])
    }

    @Test func otherLinesAreRefusedWithTheirNumbers() {
        let list = ChecksumList("hello\n\(Self.one)  a\nabc  b\n", title: "S")
        #expect(list.refused.map(\.line) == [1, 3] && list.entries.map(\.name) == ["a"])
        #expect(list.refused.first?.text == "S: expected HEX  NAME or SHA256 (NAME) = HEX")
    }

    @Test(arguments: [
        (["add", "--base-url", "http://h/", "http://h/f"], "--base-url needs --checksums"),
        (["add", "--checksums", "S"], "--checksums FILE needs --base-url URL"),
        (["add", "--checksums", "S", "--base-url", "http://h/", "http://h/f"], "exclude each other"),
        (["add", "--checksums", "/nonexistent/S", "http://h/f"], "cannot read /nonexistent/S"),
        (["add", "--checksums", "http://h/S", "--checksums", "T"], "--checksums FILE needs --base-url URL"),
        (
            [
                "add", "--checksums", "S", "--checksums", "T", "--keyring", "k", "--signature", "s", "--base-url",
                "http://h/",
            ], "--signature is for one list"
        ),
    ])
    func optionsThatDoNotFitAreRefused(arguments: [String], text: String) async throws {
        let result = try await Program.run(arguments)
        #expect(result.exit == .code(2) && result.errors.contains(text), "\(result)")
    }

    @Test func ofSeveralListsEachGivesItsDigestsAndTheFirstOneCounts() async throws {
        let directory = try TemporaryDirectory()
        try FileTree.write("\(Self.one)  a\n", to: directory.file("a.sha256"))
        try FileTree.write("\(Self.two)  a\n\(Self.two)  b\n", to: directory.file("b.sha256"))
        let daemon = try ScriptedDaemon { _, _ in .result(["ids": [1, 2], "existing": []]) }
        let lists = ["--checksums", "a.sha256", "--checksums", "b.sha256"]
        for arguments in [["http://h/a", "http://h/b"], ["--base-url", "http://h"]] {
            let result = try await Program.run(
                ["add"] + lists + arguments, daemon: daemon, directory: directory.path)
            #expect(result.exit == .code(0), "\(result)")
            let tasks = daemon.calls(of: "task.add").last?["tasks"]?.arrayValue ?? []
            #expect(tasks.map { $0["url"] } == ["http://h/a", "http://h/b"])
            #expect(
                tasks.map { $0["checksum"] } == [.string("sha-256=\(Self.one)"), .string("sha-256=\(Self.two)")])
        }
    }

    @Test func aCompressedListIsRefusedWithTheProgramThatUnpacksIt() async throws {
        let directory = try TemporaryDirectory()
        let gzip: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]
        try FileTree.write(gzip, to: directory.file("S.gz"))
        let result = try await Program.run(
            ["add", "--checksums", "S.gz", "--base-url", "http://h"], directory: directory.path)
        #expect(result.exit == .code(2) && result.errors.contains("unpack it with gunzip"), "\(result)")
    }

    /// Each file of a list would get the same URL, name, key or slot.
    @Test(arguments: [
        (["--mirror", "http://m/f"], "--mirror is another URL"), (["-o", "x"], "-o is for one file"),
        (["--client-key", "k"], "--client-key is for one task"), (["--slot", "s"], "a slot has one task"),
    ])
    func optionsForOneFileAreRefusedBesideAListOfSeveral(options: [String], text: String) async throws {
        let directory = try TemporaryDirectory()
        try FileTree.write("\(Self.one)  a\n\(Self.two)  b\n", to: directory.file("S"))
        let daemon = try ScriptedDaemon { _, _ in .result([:]) }
        let result = try await Program.run(
            ["add", "--checksums", "S", "--base-url", "http://h"] + options, daemon: daemon, directory: directory.path)
        #expect(result.exit == .code(2) && result.errors.contains(text), "\(result)")
        #expect(daemon.calls(of: "task.add").isEmpty)
    }

    @Test func aSecondBaseURLIsAMirrorOfEachFile() async throws {
        let directory = try TemporaryDirectory()
        try FileTree.write("\(Self.one)  a\n\(Self.two)  b\n", to: directory.file("S"))
        let daemon = try ScriptedDaemon { _, _ in .result(["ids": [1, 2], "existing": []]) }
        let result = try await Program.run(
            ["add", "--checksums", "S", "--base-url", "http://h", "--base-url", "http://m/p/"], daemon: daemon,
            directory: directory.path)
        #expect(result.exit == .code(0), "\(result)")
        let tasks = daemon.calls(of: "task.add").last?["tasks"]?.arrayValue ?? []
        #expect(tasks.map { $0["urls"] } == [["http://h/a", "http://m/p/a"], ["http://h/b", "http://m/p/b"]])
    }

    @Test func aFileThatIsNotListedIsRefused() async throws {
        let directory = try TemporaryDirectory()
        try FileTree.write("\(Self.one)  a\n", to: directory.file("SHA256SUMS"))
        let result = try await Program.run(
            ["add", "--checksums", directory.file("SHA256SUMS"), "http://h/b"], directory: directory.path)
        #expect(result.exit == .code(2) && result.errors.contains("has no digest for http://h/b"), "\(result)")
    }
}

@Suite struct ListSignatureTests {
    @Test func onlyAListThatAKeyOfTheRingHasSignedIsTaken() async throws {
        guard let gpg = Command.find("gpg"), Command.find("gpgv") != nil else { return }
        let directory = try TemporaryDirectory()
        let home = try directory.makeDirectory("gpg", mode: 0o700)
        func run(_ arguments: String...) async throws {
            let result = try await Command.run(
                gpg, ["--homedir", home, "--batch", "--yes", "--passphrase", ""] + arguments,
                environment: ["PATH": "/usr/bin:/bin", "HOME": home])
            try #require(result.isSuccess, "\(result)")
        }
        let list = "\(String(repeating: "1", count: 64))  a\n"
        let file = directory.file("SHA256SUMS")
        try FileTree.write(list, to: file)
        try await run("--quick-gen-key", "xfer@example.org", "ed25519", "sign", "never")
        try await run("--export", "--output", directory.file("ring"), "xfer@example.org")
        try await run("--clearsign", "--output", directory.file("clear"), file)
        try await run("--detach-sign", "--output", directory.file("sig"), file)
        let ring = directory.file("ring")
        let clear = try FileTree.text(directory.file("clear"))
        let signature = try FileTree.read(directory.file("sig"))
        #expect(try ListSignature.verified(clear, signature: nil, keyring: ring) == list)
        try await run("--armor", "--export", "--output", directory.file("ring.asc"), "xfer@example.org")
        let armoured = try FileTree.text(directory.file("ring.asc"))
        #expect(PGPArmour.decode(Array(armoured.utf8)) == (try FileTree.read(ring)))
        #expect(try ListSignature.verified(clear, signature: nil, keyring: directory.file("ring.asc")) == list)
        #expect(try ListSignature.verified(list, signature: signature, keyring: ring) == list)
        // What stands around the signed text is not part of it.
        #expect(try ListSignature.verified("forged\n" + clear, signature: nil, keyring: ring) == list)
        let changed = list.replacing("1", with: "2")
        #expect(throws: CommandFailure.self) {
            try ListSignature.verified(changed, signature: signature, keyring: ring)
        }
        #expect(throws: CommandFailure.self) { try ListSignature.verified(list, signature: nil, keyring: ring) }
        let none = directory.file("none")
        #expect(throws: CommandFailure.usage("--keyring: cannot read \(none): No such file or directory")) {
            try ListSignature.verified(list, signature: nil, keyring: none)
        }
    }

    /// RFC 9580 §6.1.1: the checksum of the bytes "hello" by another implementation is 47F58A.
    @Test func anArmourIsReadWithItsChecksumOrWithoutOneAndNotIfItIsDamaged() {
        func block(_ lines: String...) -> [UInt8] {
            let begin = "-----BEGIN PGP PUBLIC KEY BLOCK-----"
            let end = "-----END PGP PUBLIC KEY BLOCK-----"
            return Array("a comment\n\(begin)\nVersion: x\n\n\(lines.joined(separator: "\n"))\n\(end)\n".utf8)
        }
        let hello = Array("hello".utf8)
        #expect(PGPArmour.isArmoured(block("aGVsbG8=")) && !PGPArmour.isArmoured(hello))
        #expect(PGPArmour.decode(block("aGVs", "bG8=")) == hello)
        // A comment in Latin-1 before the block.
        let commented = Array("J".utf8) + [0xf6] + Array("rg\n".utf8) + block("aGVsbG8=")
        #expect(PGPArmour.isArmoured(commented) && PGPArmour.decode(commented) == hello)
        #expect(PGPArmour.decode(block("aGVsbG8=", "=R/WK")) == hello)
        #expect(PGPArmour.decode(block("aGVsbG8=") + block("aGVsbG8=")) == hello + hello)
        let cut = Array(block("aGVsbG8=").dropLast(30))
        for damaged in [block("aGVsbG8=", "=AAAA"), block("aGVsbG8"), block(""), cut] {
            #expect(PGPArmour.decode(damaged) == nil)
        }
    }
}
