import Glibc
import StrictJSON
import Testing
import XferModel
import XferProtocol
import XferTestSupport

@testable import XferCommands

/// What may stand at the cursor, and that real shells are told of it.
@Suite struct CompletionTests {
    private func words(_ line: [String]) throws -> [String] {
        let completion = Completion(line, in: try CommandTree.ofThisProgram())
        let known: [DaemonValues] = [.methods, .fields, .columns]
        if case .query(let query) = completion, !known.contains(query.values) { return [] }
        guard case .words(let words) = completion.resolved() else { return [] }
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
        let policies = ["rename", "overwrite", "skip", "fail", "update", "verify", "continue"]
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

    @Test func completionOffersAliasesHelpTopicsMethodsAndOptionsBeforeTheVerb() throws {
        #expect(try words(["r"]).contains("rm") && !words([""]).contains("rm"))
        #expect(try words(["rm", "--fai"]) == ["--failed"])
        #expect(try words(["help", "gro"]) == ["group"])
        #expect(try words(["help", "group", "p"]) == ["pause"])
        #expect(try words(["help", "nothing", ""]) == [])
        #expect(try words(["--json", "--socket", "/x", "paus"]) == ["pause"])
        #expect(try words(["--so"]) == ["--socket"])
        #expect(try words(["rpc", "queue.p"]) == ["queue.pause"])
        #expect(try words(["list", "--columns", "id,ho"]) == ["id,host"])
        #expect(try words(["list", "--fields=id,label,labe"]) == [])
        #expect(try words(["cache", "--js"]) == ["--json"])
    }

    // MARK: Values that the daemon knows

    /// Names that a shell or a terminal would take for something else.
    static let names = [
        "isos", "my isos", "it's", "a$(touch pwned)`b`", "x:y=z", "\"q\"", "ümläut", "back\\slash", "-x!",
    ]

    private static func daemon() throws -> ScriptedDaemon {
        try ScriptedDaemon { method, params in
            switch method {
            case "task.list":
                let states = params["filter"]?["state"]
                let state = states?.arrayValue?.first?.stringValue ?? states?.stringValue ?? "completed"
                return .result([
                    "tasks": .array([112, 12, 7].map { Wire.task($0, state, ["label": "l \u{1b}[2J"]) }),
                    "next_cursor": nil,
                ])
            case "group.list":
                let groups = (names + ["line\nbreak", "esc\u{1b}[2J"]).map { name in
                    var group = GroupRecord()
                    group.name = name
                    return group.wire
                }
                return .result(["groups": .array(groups), "next_cursor": nil])
            default: return .failure(RPCFailure(.methodNotFound, "no method \(method)"))
            }
        }
    }

    private func complete(_ line: [String], _ daemon: ScriptedDaemon?) async throws -> [String] {
        let result = try await Program.run(["complete", "zsh", "--"] + line, daemon: daemon)
        #expect(result.exit == .code(0) && result.errors.isEmpty, "\(result)")
        return result.output.split(separator: "\n").dropFirst().map(String.init)
    }

    @Test func idsAreOfStatesInWhichTheVerbMakesSenseWithTheirNames() async throws {
        let daemon = try Self.daemon()
        #expect(
            try await complete(["retry", ""], daemon) == [
                "112\tfailed: l ␛[2J", "12\tfailed: l ␛[2J", "7\tfailed: l ␛[2J",
            ])
        #expect(daemon.calls(of: "task.list").first?["filter"] == ["state": ["failed", "cancelled"]])
        #expect(daemon.calls(of: "task.list").first?["limit"] == 200)
        #expect(try await complete(["pause", "1"], daemon).map { String($0.prefix { $0 != "\t" }) } == ["112", "12"])
    }

    @Test(arguments: [
        (["pause", "7,"], ["7,112", "7,12"]), (["pause", "7", ""], ["112", "12"]), (["pause", "12-"], ["12-112"]),
        (["move", "7", "--before", "1"], ["112", "12"]), (["add", "--after=7"], ["--after=7"]),
    ])
    func listsRangesAndOptionsAreContinued(line: [String], expected: [String]) async throws {
        let found = try await complete(line, try Self.daemon())
        #expect(found.map { String($0.prefix { $0 != "\t" }) } == expected)
    }

    @Test func aNameThatCannotStandOnACommandLineIsNotOffered() async throws {
        let found = try await complete(["list", "--group", ""], try Self.daemon())
        #expect(found.map { String($0.prefix { $0 != "\t" }) } == Self.names)
    }

    @Test func withoutADaemonNothingIsOfferedAndNothingSaid() async throws {
        #expect(try await complete(["pause", ""], nil) == [])
        let daemon = try Self.daemon()
        #expect(try await complete(["--socket", "/nonexistent/s", "pause", ""], daemon) == [])
        #expect(try await complete(["--socket", daemon.socket, "pause", "7"], nil).count == 1)
    }

    // MARK: bash's lines

    @Test(arguments: [
        ("xferctl list --sort=na", ["xferctl", "list", "--sort=na"], "--sort=name", "name"),
        (#"xferctl list --group my\ i"#, ["xferctl", "list", "--group", "my i"], "my isos", #"my\ isos"#),
        (#"xferctl list --group "my i"#, ["xferctl", "list", "--group", "my i"], "my isos", "my isos"),
        (#"xferctl list --group 'it"#, ["xferctl", "list", "--group", "it"], "it's", #"it'\''s"#),
        (#"xferctl list --group "a$"#, ["xferctl", "list", "--group", "a$"], "a$b", #"a\$b"#),
        (#"xferctl list --host a:80"#, ["xferctl", "list", "--host", "a:80"], "a:8080", "8080"),
        (#"xferctl  pause "#, ["xferctl", "pause", ""], "7", "7"),
    ])
    func bashLinesAreSplitAndContinuedAsBashDoes(line: String, words: [String], word: String, inserted: String) {
        let read = BashLine(line, breaks: "\"'@><=;|&(:")
        #expect(read.words == words)
        #expect(read.replacement(for: word) == inserted)
    }

    @Test func aWordThatCannotStandInDoubleQuotesIsNotInserted() {
        #expect(BashLine(#"xferctl list --group "a"#, breaks: "=:").replacement(for: "a!b") == nil)
    }

    // MARK: Real shells

    /// The program is found by its name, as a user's is.
    private func run(_ shell: String, _ script: String, daemon: ScriptedDaemon? = nil) async throws -> [String] {
        let directory = try TemporaryDirectory()
        let program = try #require(Command.find(shell))
        let printed = try await Program.run(["completions", shell])
        try FileTree.write(printed.output, to: directory.file("completions"))
        let products = try Command.productsDirectory
        let result = try await Command.run(
            program, (shell == "fish" ? ["--no-config"] : []) + ["-c", script],
            environment: [
                "PATH": "\(products):/usr/bin:/bin", "HOME": directory.path, "TERM": "xterm", "LC_ALL": "C.UTF-8",
                "XFERD_SOCKET": daemon?.socket ?? "/nonexistent/xferd.sock",
            ],
            directory: directory.path)
        #expect(result.isSuccess && result.errors.isEmpty, "\(result)")
        #expect(!FileTree.exists(directory.file("pwned")))
        return result.output.split(separator: "\n").map(String.init)
    }

    @Test(
        .enabled(if: Command.find("fish") != nil, "needs fish: scripts/packages test"),
        arguments: [
            ("xferctl pau", ["pause"]), ("xferctl add --http", ["--http1.1", "--http2"]),
            ("xferctl add --on-conflict=ov", ["--on-conflict=overwrite"]), ("xferctl add -i comp", ["completions"]),
            ("xferctl pause 1", ["112", "12"]), ("xferctl list --group ", names),
            ("xferctl list --group \"my", ["my isos"]),
        ])
    func fishCompletesCommandLines(line: String, expected: [String]) async throws {
        let found = try await run(
            "fish", "source completions; complete -C '\(line)'", daemon: try Self.daemon())
        #expect(found.map { String($0.prefix { $0 != "\t" }) } == expected)
    }

    /// What typing a line and the tabulator key puts on bash's command line, and how bash reads that.
    private func bash(_ line: String) async throws -> (buffer: String, words: [String]) {
        let directory = try TemporaryDirectory()
        try FileTree.write(try await Program.run(["completions", "bash"]).output, to: directory.file("completions"))
        try FileTree.write(
            #"""
            PS1=
            source completions
            show() {
                eval "set -- $READLINE_LINE" 2> /dev/null || set --
                { printf '%s\n' "$READLINE_LINE" "$@"; } > part && mv part shown
            }
            bind -x '"\C-t": show'
            : > ready
            """#, to: directory.file("setup"))
        let daemon = try Self.daemon()
        let terminal = try FakeTerminal(columns: 200, rows: 50)
        var options = ChildProcess.Options()
        options.environment = [
            "PATH": "\(try Command.productsDirectory):/usr/bin:/bin", "HOME": directory.path, "TERM": "dumb",
            "LC_ALL": "C.UTF-8", "XFERD_SOCKET": daemon.socket, "INPUTRC": "/dev/null",
        ].merging(Command.sanitizerOptions) { $1 }
        options.directory = directory.path
        options.input = terminal.path
        options.output = terminal.path
        options.errors = terminal.path
        let shell = try ChildProcess(
            try #require(Command.find("bash")), ["--norc", "--noprofile", "-i"], options: options)
        terminal.type("source setup\n")
        try await eventually("bash is ready") { FileTree.exists(directory.file("ready")) }
        terminal.type("\(line)\t\u{14}")
        try await eventually("bash has completed") { FileTree.exists(directory.file("shown")) }
        shell.signal(SIGKILL)
        _ = await shell.exit()
        #expect(!FileTree.exists(directory.file("pwned")))
        let lines = try FileTree.text(directory.file("shown")).split(separator: "\n").map(String.init)
        return (lines.first ?? "", Array(lines.dropFirst()))
    }

    @Test(
        .enabled(if: Command.find("bash") != nil),
        arguments: [
            ("xferctl pau", ["xferctl", "pause"]),
            ("xferctl add --on-conflict=ov", ["xferctl", "add", "--on-conflict=overwrite"]),
            ("xferctl list --group my", ["xferctl", "list", "--group", "my isos"]),
            ("xferctl list --group=my", ["xferctl", "list", "--group=my isos"]),
            ("xferctl list --group \"my", ["xferctl", "list", "--group", "my isos"]),
            ("xferctl list --group 'it", ["xferctl", "list", "--group", "it's"]),
            ("xferctl list --group it", ["xferctl", "list", "--group", "it's"]),
            ("xferctl list --group a", ["xferctl", "list", "--group", "a$(touch pwned)`b`"]),
            ("xferctl list --group \"a", ["xferctl", "list", "--group", "a$(touch pwned)`b`"]),
            ("xferctl list --group x:", ["xferctl", "list", "--group", "x:y=z"]),
            ("xferctl list --group back", ["xferctl", "list", "--group", "back\\slash"]),
            ("xferctl list --group üm", ["xferctl", "list", "--group", "ümläut"]),
            ("xferctl --json retry 7", ["xferctl", "--json", "retry", "7"]),
            ("xferctl resume 7,11", ["xferctl", "resume", "7,112"]),
        ])
    func bashPutsOnItsLineWhatItReadsBack(line: String, words: [String]) async throws {
        let found = try await bash(line)
        #expect(found.words == words, "\(found)")
    }

    /// At a terminal of its own, with the tabulator key.
    @Test(
        .enabled(if: Command.find("zsh") != nil, "needs zsh: scripts/packages test"),
        arguments: [
            ("xferctl pau", ["xferctl", "pause"]),
            ("xferctl add --on-conflict=ov", ["xferctl", "add", "--on-conflict=overwrite"]),
            ("xferctl list --group my", ["xferctl", "list", "--group", "my isos"]),
            ("xferctl list --group it", ["xferctl", "list", "--group", "it's"]),
            ("xferctl list --group a", ["xferctl", "list", "--group", "a$(touch pwned)`b`"]),
            ("xferctl list --group x", ["xferctl", "list", "--group", "x:y=z"]),
            ("xferctl list --group back", ["xferctl", "list", "--group", "back\\slash"]),
            ("xferctl resume 7,11", ["xferctl", "resume", "7,112"]),
        ])
    func zshPutsOnItsLineWhatItReadsBack(line: String, words: [String]) async throws {
        let found = try await run(
            "zsh",
            #"""
            zmodload zsh/zpty
            zpty shell zsh -f -i
            zpty -w shell 'autoload -U compinit; compinit -u -D; source completions'
            zpty -w shell 'show() { print -rl -- "${(@Q)${(@z)BUFFER}}" > part; mv part shown }; zle -N show'
            zpty -w shell 'bindkey "^X" show; : > ready'
            until [[ -e ready ]]; do zpty -r -t shell part || sleep 0.05; done
            zpty -w -n shell $'\#(line)\t\x18'
            until [[ -e shown ]]; do zpty -r -t shell part || sleep 0.05; done
            cat shown
            """#, daemon: try Self.daemon())
        #expect(found == words)
    }
}
