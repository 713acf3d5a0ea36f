import ArgumentParser
import StrictJSON
import Testing
import XferProtocol
import XferTestSupport

@testable import XferCommands

/// What holds for every verb of the tree, and for every option that its help lists.
@Suite struct EveryVerbTests {
    /// What a verb needs besides the option at hand.
    private static let least: [String: [String]] = [
        "add": ["http://h/"], "backup": ["f"], "batch add": ["-i", "/dev/stdin"], "batch show": ["1"],
        "cache put": ["http://h/", "f"], "cache remove": ["1"], "cache show": ["1"], "cat": ["1"],
        "completions": ["bash"], "failed-url remove": ["1"],
        "fleet add": ["http://h/", "--place", "any"], "fleet drain": ["n"], "fleet forget": ["n"],
        "fleet limit": ["h", "2"], "fleet move": ["1", "--to", "any"], "fleet undrain": ["n"], "group pause": ["g"],
        "group remove": ["g"], "group resume": ["g"], "group set": ["g", "--max-active", "2"],
        "group show": ["g"], "log": ["1"], "policy pin": ["h"], "policy remove": ["p"], "policy set": ["p"],
        "operation cancel": ["1"], "operation show": ["1"], "policy show": ["p"],
        "policy test": ["https://h/"], "profile remove": ["p"], "profile set": ["p"], "profile show": ["p"],
        "result": ["1"], "rpc": ["daemon.status"], "set-source": ["1", "http://h/"], "slot cancel": ["s"],
        "slot detach": ["s"], "slot show": ["s"], "token add": ["t", "--scope", "read"], "token revoke": ["t"],
        "webhook test": ["w"],
    ]
    /// Verbs that act on selected tasks.
    private static let selecting: Set = [
        "pause", "resume", "cancel", "retry", "remove", "commit", "show", "wait", "update", "move", "hsts clear",
        "verify",
    ]

    /// Options by which those verbs select tasks.
    private static let selectors: Set = [
        "--all", "--state", "--failed", "--group", "--label", "--slot", "--host", "--reason", "--owner",
    ]

    /// A value that the option takes.
    private static func sample(_ argument: CommandTree.Argument, of verb: String) -> String {
        if case .words(let words) = argument.values, let first = words.first {
            return verb == "notify" && argument.names.contains("--state") ? "failed" : first
        }
        let byName = [
            "--aws-sigv4": "aws:amz:eu-1", "--bearer-from": "env:X", "--password-from": "env:X", "--cookie": "c.txt",
            "--cache-key": "{\"ignore_query\": true}", "--header-rules": "[]", "--interface": "eth0",
            "--resolve": "h:80:192.0.2.1", "--connect-to": "h:80:i:81", "--mode": "0644", "--accept-status": "200-299",
            "--header": "A: b", "--window": "mon 22:00-23:00", "--columns": "id", "--fields": "id", "--meta": "{}",
            "--checksum": String(repeating: "0", count: 64), "--login-origin": "https://h", "--param": "a=b",
            "--request": "GET", "--owner": "root", "--order": "fifo", "--range": "0-1023", "--server": "https://h",
        ]
        if let value = argument.names.lazy.compactMap({ byName[$0] }).first { return value }
        let byKind = ["time": "+2h", "seq": "5", "uid": "0", "count": "2", "id": "3", "rate": "5K", "size": "5K"]
        let isSpan = !["--not-before", "--deadline", "--expires-at"].contains { argument.names.contains($0) }
        let kind = argument.raw["valueName"]?.stringValue ?? ""
        return kind == "time" && isSpan ? "90s" : byKind[kind] ?? "x"
    }

    /// Options that an option needs beside it.
    private static func companions(of option: String, of verb: String) -> [String] {
        switch option {
        case "--timeout" where verb != "wait" && verb != "rpc", "--notify" where verb != "wait": ["--wait"]
        case "--atomic" where verb == "add": ["-i", "list"]
        case "--base-url" where verb != "profile set", "--keyring": ["--checksums", "list"]
        case "--signature": ["--checksums", "list", "--keyring", "k"]
        case "--password-file", "--password-from", "--digest", "--aws-sigv4": ["-u", "ada"]
        case "--login-origin": ["--netrc"]
        case "--client-certificate": ["--client-key", "k"]
        case "--client-key" where verb == "policy set": ["--client-certificate", "c"]
        case "--cert": ["--key", "k"]
        case "--key": ["--cert", "c"]
        case "--proxy-password-file", "--proxy-digest": ["--proxy", "http://p:1", "--proxy-user", "ada"]
        case "--proxy-user", "--proxy-negotiate", "--no-proxy": ["--proxy", "http://p:1"]
        case "--server": ["--token-file", "t"]
        case "--token-file", "--server-ca":
            ["--server", "https://h"] + (option == "--token-file" ? [] : ["--token-file", "t"])
        case "--upload": ["-T", "f"]
        case "--reverse": ["--sort", "id"]
        case "--host" where verb == "limit": ["--connections", "2"]
        case "--connections", "--requests-per-minute": ["--host", "h"]
        default: []
        }
    }

    /// A command without a name of its own costs each start of xferctl the search for one.
    @Test func everyCommandSaysItsName() {
        func unnamed(_ command: any ParsableCommand.Type) -> [String] {
            let own = command.configuration.commandName == nil ? ["\(command)"] : []
            return command.configuration.subcommands.reduce(own) { $0 + unnamed($1) }
        }
        #expect(unnamed(RootCommand.self) == [])
    }

    private static func leaves(
        _ command: CommandTree, _ path: [String] = []
    ) -> [(path: [String], command: CommandTree)] {
        let children = command.subcommands.filter { $0.name != "help" }
        guard !children.isEmpty else { return [(path, command)] }
        return children.flatMap { leaves($0, path + [$0.name]) }
    }

    /// The command line with one option, and with what the verb and the option need beside it.
    private static func words(_ verb: String, with argument: CommandTree.Argument, named name: String) -> [String] {
        let selects = selectors.contains(name)
        var words = verb.split(separator: " ").map(String.init) + (least[verb] ?? [])
        if selecting.contains(verb), !selects { words.append("1") }
        let goals = ["--top", "--bottom", "--before", "--after"]
        if verb == "move", !goals.contains(name) { words.append("--top") }
        // What is there already is not given twice.
        for given in ["--max-active", "--scope", "-i", "--place", "--to"]
        where words.contains(given) && argument.names.contains(given) {
            words.removeLast(2)
        }
        // The list brings the URLs.
        if name == "--base-url" { words.removeAll { ["http://h/", "-i", "/dev/stdin"].contains($0) } }
        words.append(name)
        if argument.kind == .option { words.append(sample(argument, of: verb)) }
        return words + companions(of: name, of: verb)
    }

    @Test func everyOptionThatAHelpListsIsTaken() async throws {
        var seen: Set<String> = []
        for (path, command) in Self.leaves(try CommandTree.ofThisProgram()) {
            await Task.yield()
            let verb = path.joined(separator: " ")
            var lines: [[String]] = []
            for argument in command.arguments where argument.kind != .positional {
                guard let name = argument.names.last, !["--help", "--version", "-h"].contains(name) else { continue }
                // `VerbOptions`, the same everywhere.
                let isShared = ["Daemon", "Output"].contains(argument.raw["sectionTitle"]?.stringValue ?? "")
                guard !isShared || seen.insert(name).inserted else { continue }
                lines.append(Self.words(verb, with: argument, named: name))
            }
            // Reading one line of `add` takes long. Most options go together, and only if some do not is each tried.
            for start in stride(from: 0, to: lines.count, by: 8) {
                let some = lines[start..<min(start + 8, lines.count)]
                let together = some.dropFirst().reduce(some[start]) { $0 + $1.dropFirst(path.count) }
                guard (try? RootCommand.parseAsRoot(together)) == nil else { continue }
                for words in some {
                    do {
                        _ = try RootCommand.parseAsRoot(words)
                    } catch {
                        Issue.record("\(words): \(RootCommand.message(for: error))")
                    }
                }
            }
        }
    }

    /// Scripts want each change without the line that confirms it.
    @Test func everyVerbThatConfirmsAChangeCanBeQuiet() throws {
        let loud = Self.leaves(try CommandTree.ofThisProgram()).filter { _, command in
            !command.arguments.contains { $0.names.contains("--quiet") }
        }
        let changing: Set = [
            "add", "pause", "resume", "cancel", "retry", "remove", "update", "move", "set-source", "commit", "set",
            "clear", "trim", "put", "detach", "revoke", "stop", "start", "limit", "shutdown", "backup", "drain",
            "undrain", "forget",
        ]
        // It prints the new token.
        let exceptions: Set = ["token add"]
        let names = loud.map { $0.path.joined(separator: " ") }
        #expect(
            names.filter { name in
                changing.contains(name.split(separator: " ").last.map { String($0) } ?? "")
                    && !exceptions.contains(name)
            } == [])
    }

    @Test func everyVerbEndsWith2AtAnUnknownOption() async throws {
        for (path, _) in Self.leaves(try CommandTree.ofThisProgram()) {
            await Task.yield()
            let words = path + (Self.least[path.joined(separator: " ")] ?? []) + ["--no-such-option"]
            let error = #expect(throws: (any Error).self, "\(words)") { try RootCommand.parseAsRoot(words) }
            #expect(error.map { RootCommand.exitCode(for: $0) } == .validationFailure, "\(words)")
        }
    }

    @Test func everyVerbEndsWith4WithoutADaemon() async throws {
        let directory = try TemporaryDirectory()
        try FileTree.write("http://h/\n", to: directory.file("list"))
        for (path, _) in Self.leaves(try CommandTree.ofThisProgram()) {
            await Task.yield()
            let verb = path.joined(separator: " ")
            // The first two need none, the third something to notify with, and the last one starts one.
            guard !["completions", "man", "notify", "daemon start"].contains(verb) else { continue }
            var words = path + (Self.least[verb] ?? []).map { $0 == "/dev/stdin" ? directory.file("list") : $0 }
            if Self.selecting.contains(verb) { words.append("1") }
            if verb == "move" { words.append("--top") }
            if verb == "update" { words += ["--priority", "high"] }
            words += ["--socket", directory.file("xferd.sock")]
            let status = CommandLineTool.run(words, output: .discarding, error: .discarding)
            #expect(status == .noDaemon, "\(words)")
        }
    }

    @Test func theGuideHasTheTableOfExitStatuses() throws {
        let tests = try #require(#filePath.firstRange(of: "/Tests/"))
        let guide = try FileTree.text(#filePath[..<tests.lowerBound] + "/docs/guide/downloading.md")
        for status in ExitStatus.allCases { #expect(guide.contains("| \(status.rawValue) | \(status.meaning) |")) }
    }

    @Test func aRateOfAHostIsRefusedWithWhatLimitsIt() async throws {
        let result = try await Program.run(["limit", "--host", "h", "--recv", "1M"])
        #expect(result.exit == .code(2), "\(result)")
        #expect(result.errors.contains("profile set NAME --recv RATE and add --profile NAME"), "\(result)")
    }

    /// --quiet leaves out confirmations, not what was asked for.
    @Test(arguments: [["limit", "-q"], ["limit", "-q", "--host", "h"]])
    func quietLimitsAreShown(arguments: [String]) async throws {
        let daemon = try ScriptedDaemon { method, _ in
            .result(method == "queue.hosts" ? ["hosts": []] : QueueStats.Result().wire)
        }
        let result = try await Program.run(arguments, daemon: daemon)
        #expect(result.exit == .code(0) && !result.output.isEmpty, "\(result)")
    }

    /// What is wrong, and what is accepted in its place.
    @Test(arguments: [
        (["add", "--limit-rate", "fast", "http://h/"], "a size or rate in bytes such as 4096, 500K"),
        (["add", "--retry-for", "long", "http://h/"], "a duration such as 90 (seconds), 500ms"),
        (["add", "--window", "never", "http://h/"], "days, times and perhaps a zone"),
        (["add", "--deadline", "never", "http://h/"], "a time such as 22:00"),
        (["add", "--segments", "99", "http://h/"], "an integer from 1 to 16, or \"auto\""),
        (["add", "--after", "x", "http://h/"], "a task's id, an integer from 1"),
        (["add", "--max-retries", "x", "http://h/"], "an integer from 0"),
        (["add", "-H", "no colon", "http://h/"], "NAME: VALUE, or @FILE"),
        (["add", "--login-origin", "x", "http://h/"], "SCHEME://HOST"),
        (["add", "--bearer-from", "x", "http://h/"], "file:PATH, systemd:NAME or env:NAME"),
        (["add", "-u", "a", "--aws-sigv4", "x", "http://h/"], "aws:amz:REGION"),
        (["add", "--param", "x", "http://h/"], "NAME=VALUE"),
        (["add", "--checksum", "abc", "http://h/"], "ALGORITHM=DIGEST"),
        (["pause", "5-3"], "ids of tasks such as 7, 1,2, 1-5 or 7-"),
        (["limit", "--max-active", "x"], "an integer, or default"),
        (["limit", "--order", "x"], "fifo, lifo or default"),
        (["list", "-n", "x"], "an integer from 0"),
        (["cache", "show", "x"], "an entry's id"), (["batch", "show", "x"], "a batch's id"),
        (["limit", "--recv", "x"], "bytes per second such as 500K, 1.5M or 2Mi, 0 or off for no limit"),
        (["events", "--since", "yesterday"], "the number of an event; `xferctl list --since` takes a time"),
        (["backup", "-"], "a file: the daemon writes it"), (["list", "--columns", ","], "names, separated by commas"),
        (["--socket", "", "list"], "a path, found nothing"),
    ])
    func aRefusedValueSaysWhatIsAccepted(arguments: [String], expected: String) async throws {
        let result = try await Program.run(arguments)
        #expect(result.exit == .code(2), "\(result)")
        #expect(result.errors.contains("expected \(expected)"), "\(result)")
        // Once: not "expected …: expected …".
        let first = result.errors.split(separator: "\n").first ?? ""
        #expect(first.ranges(of: "expected").count == 1, "\(result)")
    }
}
