import StrictJSON
import Testing
import XferProtocol
import XferTestSupport

@testable import XferCommands

/// What `update` sends of credentials, routes and cookies, and what is said of secrets among the arguments.
@Suite struct UpdateTests {
    private func run(_ arguments: [String], files: [String: String] = [:]) async throws -> (
        changes: JSONValue?, result: Command.Result
    ) {
        let daemon = try ScriptedDaemon { _, _ in .result(["task": Wire.task(7, "paused")]) }
        let directory = try TemporaryDirectory()
        for (name, text) in files { try FileTree.write(text, to: directory.file(name)) }
        let result = try await Program.run(arguments, daemon: daemon, directory: directory.path)
        let changes = daemon.calls(of: "task.update").first?["changes"]
        if let changes { _ = try TaskChanges(strict: changes) }
        return (changes, result)
    }

    @Test func credentialsProxyCookiesAndRoutesReachTheirFields() async throws {
        let cookies = "h\tFALSE\t/\tFALSE\t0\tsid\tx\n"
        let (changes, result) = try await run(
            [
                "update", "7", "-u", "ada", "--password-file", "p", "--proxy", "http://p:1", "-b", "jar", "-6",
                "--resolve",
                "h:80:192.0.2.1", "--cert", "/c.pem", "--key", "/k.pem",
            ], files: ["p": "secret\n", "jar": cookies])
        #expect(result.exit == .code(0) && result.errors.isEmpty, "\(result)")
        #expect(
            changes == [
                "ip_version": "6", "resolve": ["h:80:192.0.2.1"],
                "credential": ["user": "ada", "password": "secret"],
                "client_cert": ["certificate": "/c.pem", "key": "/k.pem"],
                "cookie_list": [["domain": "h", "name": "sid", "value": "x"]], "proxy": "http://p:1",
            ], "\(changes?.text ?? "")")
    }

    @Test func aProxysPasswordIsReadFromItsFile() async throws {
        let arguments = ["update", "7", "--proxy", "http://p:1", "--proxy-user", "ada"]
        let (changes, result) = try await run(arguments + ["--proxy-password-file", "p"], files: ["p": "secret\n"])
        #expect(result.exit == .code(0) && result.errors.isEmpty, "\(result)")
        let credential: JSONValue = ["user": "ada", "password": "secret"]
        #expect(changes == ["proxy": ["url": "http://p:1", "credential": credential]], "\(changes?.text ?? "")")
        // Without a terminal the advice names the option that the proxy's password takes.
        let (none, refused) = try await run(arguments)
        #expect(none == nil && refused.exit == .code(2), "\(refused)")
        #expect(refused.errors.contains("use --proxy-password-file FILE"), "\(refused)")
    }

    /// The scripted daemon's task is from `http://host/`.
    @Test func ofManyCookiesATaskGetsThoseOfItsSite() async throws {
        let lines = (0...CookieFile.mostOfAnySite).map { "site\($0).test\tFALSE\t/\tFALSE\t0\tn\tv" }
        let jar = (lines + ["host\tFALSE\t/\tFALSE\t0\tsid\tx", "no cookie"]).joined(separator: "\n")
        let (changes, result) = try await run(["update", "7", "-b", "jar"], files: ["jar": jar])
        #expect(
            result.exit == .code(0) && result.errors.contains("warning: -b: line 103 of jar is not a cookie"),
            "\(result)")
        #expect(changes == ["cookie_list": [["domain": "host", "name": "sid", "value": "x"]]])
    }

    @Test func filesOfSeveralDirectoriesKeepTheirPlacesBeneathTheNewOne() async throws {
        let former: [JSONValue: String] = [1: "/d/set/r1", 2: "/d/set/r2/x", 3: "/d/set"]
        let daemon = try ScriptedDaemon { _, params in
            let directory: JSONValue = .string(former[params["id"] ?? .null] ?? "/")
            return .result(["task": Wire.task(1, "paused", ["dir": directory])])
        }
        let result = try await Program.run(["update", "1,2,3", "-d", "/new"], daemon: daemon)
        #expect(result.exit == .code(0), "\(result)")
        let places = daemon.calls(of: "task.update").map { $0["changes"]?["dir"]?.stringValue }
        #expect(places == ["/new/r1", "/new/r2/x", "/new"])
        let one = try await Program.run(["update", "1", "-d", "/new"], daemon: daemon)
        #expect(one.exit == .code(0), "\(one)")
        #expect(daemon.calls(of: "task.update").last?["changes"]?["dir"] == "/new")
        let named = try await Program.run(["update", "1,2", "-o", "x"], daemon: daemon)
        #expect(named.exit == .code(2) && named.errors.contains("-o is for one file"), "\(named)")
    }

    @Test func filesThatAreBeneathTheNewDirectoryStay() async throws {
        let former: [JSONValue: String] = [2: "/x/new2", 3: "/x/new/b/s2", 4: "/x/new/b/s1", 5: "/x/new2/s3"]
        let daemon = try ScriptedDaemon { _, params in
            let directory: JSONValue = .string(former[params["id"] ?? .null] ?? "/")
            return .result(["task": Wire.task(1, "paused", ["dir": directory])])
        }
        let result = try await Program.run(["update", "2,3,4,5", "-d", "/x/new2"], daemon: daemon)
        let calls = daemon.calls(of: "task.update")
        #expect(calls.map { $0["id"] } == [3, 4], "\(result)")
        #expect(calls.map { $0["changes"]?["dir"] } == ["/x/new2/s2", "/x/new2/s1"], "\(result)")
        let lines = [
            "updated: #3 #4", "    in /x/new2/s2: #3", "    in /x/new2/s1: #4",
            "unchanged: #2 #5, in or beneath /x/new2 already",
        ]
        #expect(result.exit == .code(0) && result.output == lines.joined(separator: "\n") + "\n", "\(result)")
        let again = try await Program.run(["update", "2,5", "-d", "/x/new2"], daemon: daemon)
        #expect(again.exit == .code(0) && again.output.hasPrefix("unchanged: #2 #5"), "\(again)")
        #expect(daemon.calls(of: "task.update").count == 2)
        // With other changes the task is changed, where it is.
        _ = try await Program.run(["update", "2,5", "-d", "/x/new2", "--label", "l"], daemon: daemon)
        #expect(daemon.calls(of: "task.update").suffix(2).map { $0["changes"] } == [["label": "l"], ["label": "l"]])
    }

    /// RFC 9110 §7.6.1. Firefox writes such fields with "Copy as cURL".
    @Test func headersOfABrowsersOwnConnectionAreLeftOutWithAWarning() async throws {
        let (changes, result) = try await run(
            ["update", "7", "-H", "Connection: keep-alive", "-H", "X-A: 1", "-H", "@h"], files: ["h": "te: trailers\n"])
        #expect(result.exit == .code(0), "\(result)")
        #expect(changes == ["headers": ["X-A": "1"]], "\(changes?.text ?? "")")
        let reason = "it is about one connection, and xferd sets it itself"
        #expect(
            result.errors == """
                xferctl: warning: -H Connection ignored: \(reason)
                xferctl: warning: -H te ignored: \(reason)

                """)
    }

    @Test func clearUnsetsWhatHasNoValue() async throws {
        let fields = ["credential", "cert", "cookie", "proxy", "interface", "resolve", "connect-to"]
        let (changes, result) = try await run(["update", "7"] + fields.flatMap { ["--clear", $0] })
        #expect(result.exit == .code(0), "\(result)")
        #expect(
            changes == [
                "credential": nil, "client_cert": nil, "cookie_list": nil, "proxy": nil, "interface": nil,
                "resolve": [], "connect_to": [],
            ], "\(changes?.text ?? "")")
    }

    @Test(arguments: [
        ["add", "-H", "Authorization: Bearer planted-8", "http://h/"], ["add", "-b", "sid=planted-8", "http://h/"],
        ["add", "http://ada:planted-8@h/"], ["update", "7", "-H", "X-Api-Key: planted-8"],
    ])
    func aSecretAmongTheArgumentsIsWarnedOfAndNotRepeated(arguments: [String]) async throws {
        let (_, result) = try await run(arguments)
        #expect(result.exit == .code(0) && result.errors.contains("warning: other users"), "\(result)")
        #expect(!result.errors.contains("planted-8") && !result.output.contains("planted-8"), "\(result)")
    }

    @Test(arguments: [
        ["add", "-H", "Accept: text/html", "http://h/"], ["add", "http://ada@h/"], ["add", "http://h:80/a@b:c"],
        ["add", "-H", "Authorization:", "http://h/"],
    ])
    func argumentsWithoutASecretAreNotWarnedOf(arguments: [String]) async throws {
        #expect(try await run(arguments).result.errors.isEmpty)
    }
}
