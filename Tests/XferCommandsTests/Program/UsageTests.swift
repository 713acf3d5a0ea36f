import ArgumentParser
import StrictJSON
import Testing
import XferModel
import XferProtocol
import XferTestSupport

@testable import XferCommands

@Suite struct UsageTests {
    @Test(arguments: [
        ["bogus"], ["add"], ["add", "--checksum", "sha-256=xyz", "http://h/"], ["add", "-o", "dir/", "http://h/"],
        ["add", "-o", "x", "http://h/a", "http://h/b"], ["add", "-o", "x", "-O", "http://h/a"],
        ["add", "--mode", "999", "http://h/"],
        ["add", "--limit-rate", "-5", "http://h/"], ["add", "--priority", "urgent", "http://h/"],
        ["add", "-u", "me:secret", "http://h/"], ["add", "-i", "/nonexistent"], ["add", "--meta", "{", "http://h/"],
        ["add", "--timeout", "5", "http://h/"], ["add", "-H", "no colon", "http://h/"], ["pause"],
        ["pause", "7", "--all"], ["pause", "x"], ["pause", "-1"], ["show"], ["move", "7"],
        ["move", "7", "--top", "--bottom"], ["list", "--state", "stuck"], ["list", "--fields", "colour"],
        ["update", "7"], ["rpc", "task.list", "{"], ["limit", "--max-active", "0x"], ["list", "--user", "--system"],
        ["events", "--since", "-1"], ["shutdown", "--mode", "hard"], ["wait"],
        ["add", "-T", "a", "--upload-file", "p", "http://h/"],
    ])
    func aWrongCommandLineExitsWith2AndAMessage(arguments: [String]) async throws {
        let result = try await Program.run(arguments)
        #expect(result.exit == .code(2), "\(result)")
        #expect(result.errors.hasPrefix("xferctl: "), "\(result)")
        #expect(result.output.isEmpty)
    }

    @Test(arguments: [
        (["-u", "me:hunter2"], "--password-file"),
        (["--proxy", "http://me:hunter2@p:3128"], "--proxy-password-file"),
        (["--proxy", "http://p:3128", "--proxy-user", "me:hunter2"], "--proxy-password-file"),
    ])
    func aPasswordOnTheCommandLineIsRefusedAndNotRepeated(options: [String], advice: String) async throws {
        let result = try await Program.run(["add"] + options + ["http://h/"])
        #expect(result.exit == .code(2))
        #expect(!result.description.contains("hunter2"))
        #expect(result.errors.contains(advice))
    }

    @Test func anOptionThatTookTheURLIsNamed() async throws {
        let result = try await Program.run(["add", "-b", "http://me:hunter2@h/a"])
        #expect(result.exit == .code(2) && result.errors.contains("-b takes a value, and took http://"), "\(result)")
        #expect(!result.errors.contains("hunter2"))
        #expect(OtherHabits.takenURL([("-o", "f"), ("-d", nil)]).isEmpty)
    }

    @Test(arguments: [
        ("notaurl", "\"notaurl\" is no URL"), ("ftp://me:hunter2@h/f", "is no URL that begins with http"),
        ("me:hunter2@h/f?a=ftp://x", nil), ("me@h/f", "an argument is no URL"),
    ])
    func anArgumentThatIsNoURLIsNamed(word: String, text: String?) async throws {
        let daemon = try ScriptedDaemon { _, _ in .result(["task": Wire.task(1, "queued")]) }
        let result = try await Program.run(["add", word], daemon: daemon)
        #expect(!result.description.contains("hunter2"), "\(result)")
        guard let text else { return }
        #expect(result.exit == .code(2) && result.errors.contains(text) && daemon.calls.isEmpty, "\(result)")
    }

    @Test func aURLInPlaceOfAListIsRefused() async throws {
        let result = try await Program.run(["add", "-i", "http://me:hunter2@h/a"])
        #expect(result.exit == .code(2) && result.errors.contains("-i takes a file of URLs"), "\(result)")
        #expect(!result.errors.contains("hunter2"))
    }

    @Test func jsonInPlaceOfAURLIsRefusedWithCurlsOption() async throws {
        let result = try await Program.run(["add", "--json", "{\"a\": 1}", "http://h/"])
        #expect(result.exit == .code(2) && result.errors.contains("--json-body DATA"), "\(result)")
        let dash = try await Program.run(["add", "-"])
        #expect(dash.exit == .code(2) && dash.errors.contains("-i - reads a list"), "\(dash)")
        #expect(OtherHabits.dataAsURL(["http://h/{a,b}", "items?page=2"]) == nil)
    }

    /// curl(1), "URL".
    @Test(arguments: [
        ("http://h/a[001-100].jpg", "[001-100] in a URL is sent unchanged; bash expands {001..100}"),
        ("http://h/a[0-9:2].jpg", "[0-9:2] in a URL is sent unchanged; bash expands {0..9}"),
        ("http://h/a[a-z].jpg", "bash expands {a..z}"), ("http://h/{a,b}", "{a,b} in a URL is sent unchanged"),
        ("http://[::1]/a", nil), ("http://h/a[1]", nil), ("http://h/{a}", nil),
    ])
    func aURLThatCurlWouldExpandIsWarnedOf(url: String, text: String?) {
        let warning = OtherHabits.unexpandedURL(["http://h/", url])
        #expect(text.map { warning?.contains($0) == true } ?? (warning == nil), "\(warning ?? "no warning")")
    }

    @Test func dataInPlaceOfADirectoryIsRefused() {
        for data in ["a=b", "{\"a\": 1}", "@body"] {
            let refusal = OtherHabits.dataAsDirectory(data, exists: { _ in false })
            #expect(refusal?.contains("--data DATA") == true)
            #expect(OtherHabits.dataAsDirectory(data, exists: { _ in true }) == nil)
        }
        // A partition of a data set, as Hive names them.
        for directory in ["/data/year=2026", "year=2026/", "isos", nil] {
            #expect(OtherHabits.dataAsDirectory(directory, exists: { _ in false }) == nil)
        }
    }

    @Test(arguments: [
        ["--help"], ["--version"], ["help", "add"], ["add", "--help"], ["completions", "bash"], ["man"],
    ])
    func helpVersionCompletionsAndManualNeedNoDaemon(arguments: [String]) async throws {
        let result = try await Program.run(arguments)
        #expect(result.exit == .code(0) && !result.output.isEmpty && result.errors.isEmpty, "\(result)")
    }

    /// A label of more than 63 octets (RFC 1035, 2.3.4) is refused without a request to a name server.
    @Test func aServerWhoseNameCannotBeResolvedIsNotBlamedOnAFirewall() async throws {
        let directory = try TemporaryDirectory()
        try FileTree.write("xfer_1\n", to: directory.file("token"))
        let name = String(repeating: "a", count: 64) + ".example"
        let result = try await Program.run(
            ["list", "--server", "https://\(name)", "--token-file", "token"], directory: directory.path)
        #expect(result.exit == .code(4) && result.errors.contains("its name cannot be resolved"), "\(result)")
        #expect(result.errors.contains("check the URL") && !result.errors.contains("--server-ca"), "\(result)")
    }

    @Test func aMissingDaemonMessageListsTriedSocketsAndHowToStartOne() async throws {
        let empty = try TemporaryDirectory()
        let result = try await Program.run(
            ["list"], environment: ["XFERD_SOCKET": "", "XDG_RUNTIME_DIR": empty.path])
        // The system's daemon may run on this machine; then the command fails for another reason or works.
        guard !FileTree.exists("/run/xferd/xferd.sock") else { return }
        #expect(result.exit == .code(4))
        #expect(result.errors.contains("\(empty.path)/xferd.sock") && result.errors.contains("/run/xferd/xferd.sock"))
        #expect(result.errors.contains("xferctl daemon start") && !result.errors.contains("systemctl"), "\(result)")
    }
}

@Suite struct ManualTests {
    @Test func theManualDescribesEveryVerbOptionAndExitStatus() throws {
        let page = try ManualCommand.page()
        for verb in [
            "add", "list", "show", "wait", "watch", "pause", "resume", "cancel", "retry", "remove", "update", "move",
            "queue stats", "queue pause", "queue resume", "limit", "events", "status", "shutdown", "rpc", "completions",
        ] {
            #expect(page.contains(".SS \"xferctl \(verb)"), "\(verb)")
        }
        for option in ["checksum", "limit\\-rate", "password\\-file", "on\\-conflict", "no\\-follow", "clear"] {
            #expect(page.contains("\\fB\\-\\-\(option)\\fR"), "\(option)")
        }
        #expect(page.contains("\\fB\\-\\-socket PATH\\fR"), "described once for all verbs")
        for status in ExitStatus.allCases { #expect(page.contains("\\fB\(status.rawValue)\\fR")) }
    }

    @Test func manAndGroffAcceptTheManualWithoutAWarning() async throws {
        guard let groff = Command.find("groff") else { return }
        let directory = try TemporaryDirectory()
        try FileTree.write(try ManualCommand.page(), to: directory.file("xferctl.1"))
        let result = try await Command.run(groff, ["-man", "-Tutf8", "-ww", "-z", directory.file("xferctl.1")])
        #expect(result.isSuccess && result.errors.isEmpty, "\(result)")
    }

    @Test func roffControlCharactersAreEscaped() {
        #expect(Roff.escaped("a-b\\c`d") == "a\\-b\\ec\\(gad")
        var page = Roff()
        page.text(".not a request")
        #expect(page.output == "\\&.not a request\n")
    }
}
