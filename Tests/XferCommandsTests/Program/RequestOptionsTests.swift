import StrictJSON
import Testing
import XferProtocol
import XferTestSupport

@testable import XferCommands

/// curl's habits, as fields of `task.add`.
@Suite struct RequestOptionsTests {
    /// What `add` with these arguments sends, strictly read as the daemon does.
    private func params(
        _ arguments: [String], files: [String: String] = [:]
    ) async throws -> (json: JSONValue, directory: String) {
        let daemon = try ScriptedDaemon { _, _ in .result(["task": Wire.task(1, "queued")]) }
        let directory = try TemporaryDirectory()
        for (name, text) in files { try FileTree.write(text, to: directory.file(name)) }
        let result = try await Program.run(["add"] + arguments, daemon: daemon, directory: directory.path)
        #expect(result.exit == .code(0), "\(result)")
        let params = try #require(daemon.calls(of: "task.add").first)
        _ = try TaskAdd.Params(strict: params)
        // Always there, and no matter of these tests.
        var others = try #require(params.objectValue)
        #expect(others["retry_failed"] == true)
        others["retry_failed"] = nil
        return (.object(others), directory.path)
    }

    @Test func dataOptionPostsAFormAndKeepsTheResponse() async throws {
        let (json, _) = try await params(["--data", "a=1", "--data", "@f", "http://h/"], files: ["f": "b=\r\n2\n"])
        #expect(
            json == [
                "url": "http://h/", "kind": "data", "headers": ["Content-Type": "application/x-www-form-urlencoded"],
                "body": ["raw": "a=1&b=2"],
            ])
    }

    @Test func outputOptionSendsTheResponseToAFile() async throws {
        let (json, directory) = try await params(["--json-body", #"{"a":null}"#, "-o", "x", "http://h/"])
        #expect(
            json == [
                "url": "http://h/", "body": ["json": ["a": nil]], "output": .string(directory + "/x"),
            ])
    }

    @Test func formOptionAcceptsFilesTypesAndNames() async throws {
        let (json, directory) = try await params(
            ["-F", "a=x;y", "-F", "b=@p.jpg;type=image/jpeg;filename=q", "http://h/"], files: ["p.jpg": "x"])
        #expect(
            json == [
                "url": "http://h/", "kind": "data",
                "parts": [
                    ["name": "a", "data": "x;y"],
                    [
                        "name": "b", "file": .string(directory + "/p.jpg"), "filename": "q",
                        "content_type": "image/jpeg",
                    ],
                ],
            ])
    }

    @Test func headerAgentRefererAndRouteOptionsReachTheirFields() async throws {
        let (json, _) = try await params(
            [
                "-A", "agent/1", "-e", "http://from/", "-H", "@h", "-4", "--interface", "eth1", "--resolve",
                "h:80:192.0.2.1", "--connect-to", "h:80:other:81", "http://h/",
            ], files: ["h": "X-A: b\n\nX-C: d\r\n"])
        #expect(
            json == [
                "url": "http://h/",
                "headers": ["X-A": "b", "X-C": "d", "User-Agent": "agent/1", "Referer": "http://from/"],
                "ip_version": "4", "interface": "eth1", "resolve": ["h:80:192.0.2.1"], "connect_to": ["h:80:other:81"],
            ])
    }

    @Test func cookieOptionReadsANetscapeFileOrSendsAValue() async throws {
        let file =
            "# Netscape HTTP Cookie File\n\n.h\tTRUE\t/a\tTRUE\t0\tsid\tx\n#HttpOnly_h\tFALSE\t/\tFALSE\t9\tb\t\n"
        let (json, _) = try await params(["-b", "jar.txt", "http://h/"], files: ["jar.txt": file])
        #expect(
            json == [
                "url": "http://h/",
                "cookie_list": [
                    [
                        "domain": "h", "include_subdomains": true, "path": "/a", "secure": true, "name": "sid",
                        "value": "x",
                    ],
                    ["domain": "h", "expires": 9, "name": "b", "value": ""],
                ],
            ])
        let many = (0..<5000).map { "h\($0).test\tFALSE\t/\tFALSE\t0\tn\tv" }.joined(separator: "\n")
        let (own, _) = try await params(["-b", "jar.txt", " <http://h7.test/> "], files: ["jar.txt": many])
        #expect(own == ["url": "http://h7.test/", "cookie_list": [["domain": "h7.test", "name": "n", "value": "v"]]])
        let (value, _) = try await params(["-b", "a=b; c=d", "http://h/"])
        #expect(value == ["url": "http://h/", "headers": ["Cookie": "a=b; c=d"]])
    }

    @Test func uploadToAURLThatEndsInASlashAppendsTheFileName() async throws {
        let (json, directory) = try await params(["-T", "a b.tar", "--spool", "http://h/up/"], files: ["a b.tar": "x"])
        #expect(
            json == [
                "url": "http://h/up/a%20b.tar", "kind": "upload", "source": .string(directory + "/a b.tar"),
                "spool": true,
            ])
    }

    @Test func binaryDataIsReadFromStandardInputOrStreamedFromAFile() async throws {
        let daemon = try ScriptedDaemon { _, _ in .result(["task": Wire.task(1, "queued")]) }
        let result = try await Program.run(
            ["add", "--data-binary", "@-", "http://h/"], daemon: daemon, input: "a\r\nb\n")
        #expect(result.exit == .code(0), "\(result)")
        #expect(daemon.calls(of: "task.add").first?["body"] == ["raw": "a\r\nb\n"])
        let (json, directory) = try await params(["--data-binary", "@f", "http://h/"], files: ["f": "x"])
        #expect(
            json == [
                "url": "http://h/", "kind": "data", "body": ["file": .string(directory + "/f")],
                "headers": ["Content-Type": "application/x-www-form-urlencoded"],
            ])
        let (typed, _) = try await params(["--data-binary", "x", "-H", "Content-Type: text/plain", "http://h/"])
        #expect(typed["headers"] == ["Content-Type": "text/plain"])
        for others in [["--profile", "p"], ["--upload", "tus"]] {
            let (untyped, _) = try await params(["--data-binary", "x", "http://h/"] + others)
            #expect(untyped["headers"] == nil, "\(others)")
        }
    }

    @Test func aPartWithALessThanSignIsAFilesText() async throws {
        let daemon = try ScriptedDaemon { _, _ in .result(["task": Wire.task(1, "queued")]) }
        let result = try await Program.run(
            ["add", "-F", "a=<-;type=text/plain", "-F", "b=a<b", "http://h/"], daemon: daemon, input: "x\ny\n")
        #expect(result.exit == .code(0), "\(result)")
        #expect(
            daemon.calls(of: "task.add").first?["parts"] == [
                ["name": "a", "data": "x\ny\n", "content_type": "text/plain"], ["name": "b", "data": "a<b"],
            ])
    }

    /// The longest message is 4 MiB: each line's end takes two bytes in JSON, and base64 a third more.
    @Test(
        arguments: [
            ("x", 5 << 20, ["add", "--data-binary", "@-", "http://h/"], "send it from a file: --data-binary @FILE"),
            ("\n", 5 << 19, ["add", "--data-binary", "@-", "http://h/"], "send it from a file: --data-binary @FILE"),
            ("x", 5 << 20, ["add", "--data", "@-", "http://h/"], "send it from a file: --data-binary @FILE"),
            (
                "\"a long text\",", 3 << 17, ["add", "--json-body", "@-", "http://h/"],
                "-H 'Content-Type: application/json'"
            ),
            ("x", 5 << 20, ["add", "-F", "a=<-", "http://h/"], "-F name=@FILE"),
            ("x", 5 << 20, ["cache", "put", "http://h/", "-"], "give its name in place of -"),
            ("x", 7 << 19, ["cache", "put", "http://h/", "-"], "give its name in place of -"),
        ] as [(String, Int, [String], String)])
    func contentThatIsTooLongForAMessageIsRefused(
        character: String, count: Int, arguments: [String], remedy: String
    ) async throws {
        let daemon = try ScriptedDaemon { _, _ in .result(["task": Wire.task(1, "queued")]) }
        var input = String(repeating: character, count: count)
        if arguments.contains("--json-body") { input = "[\(input)0]" }
        let result = try await Program.run(arguments, daemon: daemon, input: input)
        #expect(result.exit == .code(2) && result.errors.contains(remedy), "\(result.errors)")
        #expect(daemon.calls(of: "task.add").isEmpty && daemon.calls(of: "cache.put").isEmpty)
    }

    /// In a container the daemon has other files than this command.
    @Test func anAbsolutePathThatIsMissingHereIsLeftToTheDaemon() async throws {
        let (json, _) = try await params(["-T", "/nonexistent/x", "http://h/f"])
        #expect(json == ["url": "http://h/f", "kind": "upload", "source": "/nonexistent/x"])
    }

    @Test(arguments: [
        (["-T", "gone"], "-T: cannot read gone: No such file or directory"),
        (["--data-binary", "@gone"], "--data-binary: cannot read gone: No such file or directory"),
        (["-F", "a=@/"], "-F: cannot read /: Is a directory"),
        (["-F", "a=</gone"], "-F: cannot read /gone: No such file or directory"),
        (["-F", "a=<"], "-F: expected a file's name after a=<"),
        (["-F", "a=@-"], "-F: standard input cannot be sent as a file"),
        (["-T", "/etc/passwd", "-o", "answer"], "-o is for downloads, and the answer to this request is kept"),
        (["-T", "/etc/passwd", "-O"], "-O is for downloads"),
        (["-o", "/dev/null"], "a file never replaces; use -o - URL > /dev/null"),
    ])
    func whatCannotBeSentOrWrittenIsRefusedWithItsOption(arguments: [String], text: String) async throws {
        let daemon = try ScriptedDaemon { _, _ in .result(["task": Wire.task(1, "queued")]) }
        let result = try await Program.run(["add"] + arguments + ["http://h/"], daemon: daemon)
        #expect(result.exit == .code(2) && result.errors.contains(text), "\(result)")
        #expect(daemon.calls.isEmpty)
    }

    @Test(arguments: [
        (["-o", "x"], "output", "-o: nope"), (["-d", "/d"], "dir", "-d: nope"), (["-O"], "dir", "-O: nope"),
        (["--max-size", "1K"], "max_size", "--max-size: nope"),
        (["--accept-type", "x"], "accept_types[0]", "--accept-type: nope"), ([], "url", "url: nope"),
    ])
    func aRefusalOfTheDaemonNamesTheOptionThatWasTyped(
        arguments: [String], field: String, text: String
    ) async throws {
        let daemon = try ScriptedDaemon { _, _ in
            .failure(RPCFailure(.invalidParams, "\(field): nope", data: ErrorData(reason: "invalid", path: field)))
        }
        let result = try await Program.run(["add"] + arguments + ["http://h/"], daemon: daemon)
        #expect(result.exit == .code(3) && result.errors == "xferctl: \(text)\n", "\(result)")
    }

    @Test func aMethodOtherThanGETKeepsTheResponse() async throws {
        let (json, _) = try await params(["-X", "delete", "--param", "a=1", "--param", "a=2", "http://h/"])
        #expect(json == ["url": "http://h/", "kind": "data", "method": "DELETE", "params": ["a": ["1", "2"]]])
    }

    @Test func profileProxyCookieCredentialAndLimitOptionsReachTheirFields() async throws {
        let (json, directory) = try await params(
            [
                "--profile", "api", "--proxy", "http://p:1", "--no-proxy", "a, b", "--no-cookies", "--bearer-file", "t",
                "--cert", "c.pem", "--key", "/k.pem", "--limit-send", "1K", "--retry-non-idempotent", "--accept-type",
                "json", "--kind", "data", "--parse", "json", "--strip-nulls", "rel",
            ], files: ["t": "TOKEN\n"])
        #expect(
            json == [
                "url": "rel", "kind": "data", "profile": "api",
                "proxy": ["url": "http://p:1", "no_proxy": ["a", "b"]], "cookies": false,
                "credential": ["scheme": "bearer", "secret": "TOKEN"],
                "client_cert": ["certificate": .string(directory + "/c.pem"), "key": "/k.pem"], "max_send_rate": 1000,
                "retry_non_idempotent": true, "accept_types": ["json"], "parse": ["json"], "strip_nulls": true,
            ])
    }

    @Test func secretReferencesAreLeftForTheDaemonToRead() async throws {
        #expect(
            try await params([
                "-u", "AKIA", "--aws-sigv4", "aws:amz:eu-1:s3", "--password-from", "env:KEY", "http://h/",
            ])
            .json["credential"]
                == ["scheme": "sigv4", "user": "AKIA", "secret": ["env": "KEY"], "region": "eu-1", "service": "s3"])
        #expect(
            try await params(["--netrc-file", "/n", "http://h/"]).json["credential"]
                == ["scheme": "netrc", "secret": ["file": "/n"]])
        #expect(try await params(["--no-proxy", "*", "http://h/"]).json["proxy"] == .null)
    }

    @Test func theOriginsOfACredentialAreSent() async throws {
        let (json, _) = try await params([
            "--netrc-file", "/n", "--login-origin", "https://urs.test", "--login-origin", "http://data.test:8080",
            "http://h/",
        ])
        #expect(
            json["credential"]
                == [
                    "scheme": "netrc", "secret": ["file": "/n"],
                    "origins": ["https://urs.test", "http://data.test:8080"],
                ])
    }

    @Test(arguments: [
        ["--data", "a", "-F", "b=c"], ["-u", "me:secret"], ["--password-from", "file:/p"], ["--cert", "c"],
        ["--netrc", "-u", "me"], ["--upload", "tus"], ["--json-body", "{"], ["-F", "nothing"], ["-X", "TRACE"],
        ["--no-proxy", "a"], ["--bearer-from", "nowhere"], ["--login-origin", "https://a"],
        ["--netrc", "--login-origin", "https://a/path"],
    ])
    func contradictoryRequestOptionsAreAUsageError(arguments: [String]) async throws {
        let daemon = try ScriptedDaemon { _, _ in .result(["task": Wire.task(1, "queued")]) }
        let result = try await Program.run(["add"] + arguments + ["http://h/"], daemon: daemon)
        #expect(result.exit == .code(2), "\(result)")
        #expect(daemon.calls(of: "task.add").isEmpty)
        #expect(!result.errors.contains("secret"))
    }
}
