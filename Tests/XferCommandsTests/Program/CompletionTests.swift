import Testing
import XferTestSupport

@testable import XferCommands

/// What may stand at the cursor, and that real shells are told of it.
@Suite struct CompletionTests {
    private func words(_ line: [String]) throws -> [String] {
        guard case .words(let words) = Completion(line, in: try CommandTree.ofThisProgram()) else { return [] }
        return words.map(\.text)
    }

    @Test func completionOffersVerbsFirst() throws {
        #expect(try words(["pau"]) == ["pause"])
        #expect(try words(["queue", ""]) == ["stats", "pause", "resume"])
        #expect(try words([""]).contains("add"))
        #expect(try !words([""]).contains("complete"))
        // Behind an id no verb follows.
        #expect(try words(["pause", "7", ""]) == [])
    }

    @Test func completionOffersEachOptionOfTheVerbOnce() throws {
        #expect(try words(["add", "--http"]) == ["--http1.1", "--http2"])
        #expect(try words(["add", "--http1.1", "--http"]) == ["--http2"])
        #expect(try words(["add", "-H", "a: b", "--head"]) == ["--header"])
        #expect(try words(["add", "--", "--http"]) == [])
    }

    @Test func completionOffersEnumeratedValues() throws {
        let policies = ["rename", "overwrite", "skip", "fail", "update"]
        #expect(try words(["add", "--on-conflict", ""]) == policies)
        #expect(try words(["add", "--on-conflict=ov"]) == ["--on-conflict=overwrite"])
        #expect(try words(["completions", ""]) == ["bash", "zsh", "fish"])
    }

    @Test func completionLeavesFilesAndDirectoriesToTheShell() throws {
        let tree = try CommandTree.ofThisProgram()
        #expect(Completion(["add", "-i", ""], in: tree) == .files)
        #expect(Completion(["add", "-d", "x"], in: tree) == .directories)
        #expect(Completion(["add", "--input-file=x"], in: tree) == .files)
    }

    @Test(arguments: [
        (["add", "--on-conflict", "=", "ov"], ["add", "--on-conflict=ov"]), (["a", "="], ["a", "="]),
        (["--a", "="], ["--a="]), (["--a", "=", "b", "c"], ["--a=b", "c"]), ([], []),
    ])
    func completionJoinsTheWordsThatBashSplits(split: [String], whole: [String]) {
        #expect(CompleteCommand.joined(split) == whole)
    }

    // MARK: Real shells

    /// The program is found by its name, as a user's is.
    private func run(_ shell: String, _ script: String) async throws -> [String] {
        let directory = try TemporaryDirectory()
        let program = try #require(Command.find(shell))
        let printed = try await Program.run(["completions", shell])
        try FileTree.write(printed.output, to: directory.file("completions"))
        let products = try Command.productsDirectory
        let result = try await Command.run(
            program, (shell == "fish" ? ["--no-config"] : []) + ["-c", script],
            environment: ["PATH": "\(products):/usr/bin:/bin", "HOME": directory.path, "TERM": "xterm"],
            directory: directory.path)
        #expect(result.isSuccess && result.errors.isEmpty, "\(result)")
        return result.output.split(separator: "\n").map(String.init)
    }

    @Test(
        .enabled(if: Command.find("fish") != nil, "needs fish: scripts/packages test"),
        arguments: [
            ("xferctl pau", ["pause"]), ("xferctl add --http", ["--http1.1", "--http2"]),
            ("xferctl add --on-conflict=ov", ["--on-conflict=overwrite"]), ("xferctl add -i comp", ["completions"]),
        ])
    func fishCompletesCommandLines(line: String, expected: [String]) async throws {
        let found = try await run("fish", "source completions; complete -C '\(line)'")
        #expect(found.map { String($0.prefix { $0 != "\t" }) } == expected)
    }

    @Test(
        .enabled(if: Command.find("bash") != nil),
        arguments: [
            ("pau", ["pause"]), ("add --http", ["--http1.1", "--http2"]), ("add --on-conflict = ov", ["overwrite"]),
            ("add --on-conflict ov", ["overwrite"]),
        ])
    func bashCompletesCommandLines(line: String, expected: [String]) async throws {
        let found = try await run(
            "bash",
            """
            source completions
            COMP_WORDS=(xferctl \(line)); COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
            _xferctl; printf '%s\\n' "${COMPREPLY[@]}"
            """)
        #expect(found == expected)
    }

    /// At a terminal of its own, with the tabulator key.
    @Test(
        .enabled(if: Command.find("zsh") != nil, "needs zsh: scripts/packages test"),
        arguments: [
            ("xferctl pau", "xferctl pause "), ("xferctl add --on-conflict=ov", "xferctl add --on-conflict=overwrite "),
        ])
    func zshCompletesCommandLines(line: String, expected: String) async throws {
        let found = try await run(
            "zsh",
            #"""
            zmodload zsh/zpty
            zpty shell zsh -f -i
            zpty -w shell 'autoload -U compinit; compinit -u -D; source completions'
            zpty -w shell 'show() { print -r -- "$BUFFER|" > shown }; zle -N show; bindkey "^X" show; : > ready'
            until [[ -e ready ]]; do zpty -r -t shell part || sleep 0.05; done
            zpty -w -n shell $'\#(line)\t\x18'
            until [[ -s shown ]]; do zpty -r -t shell part || sleep 0.05; done
            cat shown
            """#)
        #expect(found == [expected + "|"])
    }
}
