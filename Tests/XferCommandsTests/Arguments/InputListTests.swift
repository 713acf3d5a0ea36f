import StrictJSON
import Testing
import XferModel
import XferProtocol
import XferTestSupport

@testable import XferCommands

/// Input files of `add -i` and `batch add -i`.
@Suite struct InputListTests {
    private func urls(_ text: String) -> [[String]] { InputList(Array(text.utf8)).entries.map(\.urls) }

    private func refused(_ text: String) -> [Int?] { InputList(Array(text.utf8)).refused.map(\.line) }

    @Test func commentsBlankLinesAndAByteOrderMarkAreNoURLs() {
        let text = "\u{feff}# mirrors\nhttp://a/1\r\n\n  http://a/2  \n#http://a/3\nhttp://a/4 # the last\n \t# none\n"
        #expect(urls(text) == [["http://a/1"], ["http://a/2"], ["http://a/4"]])
        #expect(urls("http://a/1#fragment\n") == [["http://a/1#fragment"]])
    }

    @Test func quotesAndBracketsAroundURLsAndLinesWithASemicolonAreNoURLs() {
        let text = "; a comment\n  ; another\n<http://a/1>\n \"http://a/2\"\t'http://b/2'\n  out=x\nhttp://a/3;v=1\n"
        #expect(urls(text) == [["http://a/1"], ["http://a/2", "http://b/2"], ["http://a/3;v=1"]])
        #expect(InputList(Array(text.utf8)).entries[1].options.map(\.name) == ["out"] && refused(text).isEmpty)
    }

    @Test func urlsWithTabsBetweenAreMirrors() {
        #expect(urls("http://a/1\thttp://b/1\t# two\nhttp://a/2") == [["http://a/1", "http://b/1"], ["http://a/2"]])
    }

    @Test func indentedLinesAreOptionsOfTheURLAbove() {
        let list = InputList(Array("http://a/1\n  out = a=b.iso\r\n\n\t# why\n\theader=X: y\nhttp://a/2\n".utf8))
        #expect(
            list.entries == [
                InputList.Entry(
                    line: 1, urls: ["http://a/1"],
                    options: [
                        InputList.Option(line: 2, name: "out", value: "a=b.iso"),
                        InputList.Option(line: 5, name: "header", value: "X: y"),
                    ]), InputList.Entry(line: 6, urls: ["http://a/2"]),
            ])
    }

    @Test func aLineThatCannotBeReadLeavesOutItsEntryAlone() {
        let text = " out=a\nhttp://a/1\n no value\n out=b\nhttp://a/2\n"
        #expect(urls(text) == [["http://a/2"]])
        #expect(refused(text) == [1, 3])
        var bytes = Array("http://a/1\n".utf8) + [0x68, 0xff, 0x0a]
        bytes += Array((String(repeating: "x", count: InputList.maximumLine + 1) + "\nhttp://a/4").utf8)
        let list = InputList(bytes)
        #expect(list.entries.map(\.line) == [1, 4] && list.refused.map(\.line) == [2, 3])
    }

    @Test func aListWithoutAURLIsRefused() throws {
        let directory = try TemporaryDirectory()
        try FileTree.write("# nothing\n", to: directory.file("list"))
        let error = #expect(throws: CommandFailure.self) { try InputList.read(directory.file("list")) }
        #expect(error?.message.hasSuffix("contains no URL") == true)
    }
}

/// What aria2's options of an entry make of its task.
@Suite struct InputOptionTests {
    /// The tasks that a list makes of `add -i`, and what is said about its lines.
    private func add(
        _ list: String, _ arguments: [String] = []
    ) async throws -> (tasks: [JSONValue], result: Command.Result, directory: String) {
        let daemon = try ScriptedDaemon { _, params in
            guard let tasks = params["tasks"]?.arrayValue else {
                return .result(["task": Wire.task(1, "queued")])
            }
            return .result(["ids": .array(tasks.indices.map { .integer(Int64($0) + 1) }), "existing": []])
        }
        let directory = try TemporaryDirectory()
        let result = try await Program.run(
            ["add", "-i", "-"] + arguments, daemon: daemon, input: list, directory: directory.path)
        let tasks = daemon.calls(of: "task.add").flatMap { $0["tasks"]?.arrayValue ?? [] }
        for task in tasks { _ = try NewTask(strict: task) }
        return (tasks, result, directory.path)
    }

    @Test func everyOptionWithAnEquivalentChangesItsTask() async throws {
        let digest = "sha-1=da39a3ee5e6b4b0d3255bfef95601890afd80709"
        let (tasks, result, directory) = try await add(
            """
            http://a/1\thttp://b/1
             out=x.iso
             dir=sub
             checksum=\(digest)
             header=X-A: 1
             header=X-A: 2
             referer=*
             user-agent=me
             max-download-limit=2K
             max-upload-limit=1M
             split=4
             all-proxy=proxy:3128
             no-proxy=c, d
             pause=true
             max-tries=5
             timeout=9
             connect-timeout=3
             remote-time=true
             allow-overwrite=true
            """, ["-H", "x-a: none", "-H", "X-B: b"])
        #expect(result.exit == .code(0) && result.errors.isEmpty, "\(result)")
        #expect(
            tasks == [
                [
                    "urls": ["http://a/1", "http://b/1"],
                    "headers": ["X-B": "b", "X-A": ["1", "2"], "Referer": "http://a/1", "User-Agent": "me"],
                    "output": "x.iso", "dir": .string("\(directory)/sub"), "on_conflict": "overwrite",
                    "remote_time": true, "checksum": .string(digest), "paused": true, "max_retries": 4,
                    "max_recv_rate": 2048, "max_send_rate": 1_048_576, "segments": 4, "retry_failed": true,
                    "connect_timeout": 3, "idle_timeout": 9,
                    "proxy": ["url": "http://proxy:3128", "no_proxy": ["c", "d"]],
                ]
            ], "\(tasks.map(\.text))")
    }

    /// A list does not know the working directory of its caller, which may be a timer.
    @Test func aNameWithoutADirectoryIsBelowTheDaemonsOwn() async throws {
        let (tasks, result, directory) = try await add(
            "http://a/1\n out=n\nhttp://a/2\n out=sub/m\nhttp://a/3\nhttp://a/4\n dir=/srv/x\n out=k\n")
        #expect(result.exit == .code(0), "\(result)")
        #expect(tasks.map { $0["dir"] } == [nil, nil, nil, "/srv/x"])
        #expect(tasks.map { $0["output"] } == ["n", "sub/m", nil, "k"])
        let (here, _, other) = try await add("http://a/1\n out=n\nhttp://a/2\n out=sub/m\n", ["-O"])
        #expect(here.map { $0["dir"] } == [.string(other), nil], "\(directory)")
        #expect(here.map { $0["output"] } == ["n", .string("\(other)/sub/m")])
    }

    @Test func aRelativeDirectoryOfAnEntryIsBelowTheCommandLines() async throws {
        let list = "http://a/1\n dir=sub/deep\nhttp://a/2\n dir=/srv/x\n"
        let (tasks, result, directory) = try await add(list, ["-d", "down"])
        #expect(result.exit == .code(0), "\(result)")
        #expect(tasks.map { $0["dir"] } == [.string("\(directory)/down/sub/deep"), "/srv/x"])
        let (here, _, other) = try await add(list)
        #expect(here.map { $0["dir"] } == [.string("\(other)/sub/deep"), "/srv/x"])
    }

    @Test func aNameBelowTheCommandLinesDirectoryAndTheConflictPoliciesAreTakenOver() async throws {
        let (tasks, result, directory) = try await add(
            "http://a/1\n out=n\n auto-file-renaming=false\nhttp://a/2\n conditional-get=true\n http-proxy=p\n https-proxy=q\nhttp://a/3\n continue=true\n",
            ["-d", "down"])
        #expect(result.exit == .code(0), "\(result)")
        #expect(tasks.map { $0["dir"] } == Array(repeating: .string("\(directory)/down"), count: 3))
        #expect(tasks.map { $0["output"] } == ["n", nil, nil])
        #expect(tasks.map { $0["on_conflict"] } == ["fail", "update", "continue"])
        #expect(tasks.map { $0["proxy"] } == [nil, "http://p", nil])
    }

    @Test func aFileThatIsNoTextIsRefusedInOneLine() async throws {
        let (tasks, result, _) = try await add("\u{7F}ELF\n\0\nhttp://a/1\n")
        #expect(result.exit == .code(2) && tasks.isEmpty, "\(result)")
        #expect(result.errors == "xferctl: -i: standard input is not text, so it is not a list of URLs\n", "\(result)")
    }

    @Test func anOptionThatChangesNoByteIsIgnoredWithItsLine() async throws {
        let (tasks, result, _) = try await add("http://a/1\n file-allocation=none\n split=40\n bt-max-peers=5\n")
        #expect(result.exit == .code(0) && tasks.count == 1, "\(result)")
        #expect(
            result.errors == """
                xferctl: line 2: file-allocation: ignored, it has no equivalent here
                xferctl: line 3: split: the highest number here is 16
                xferctl: line 4: bt-max-peers: ignored, it has no equivalent here

                """)
    }

    @Test func anIgnoredOptionBelowEachURLIsReportedOnce() async throws {
        let entry = "http://a/1\n file-allocation=none\n"
        let (tasks, result, _) = try await add(entry + entry + entry)
        #expect(tasks.count == 3, "\(result)")
        #expect(
            result.errors == "xferctl: line 2 and 2 more: file-allocation: ignored, it has no equivalent here\n")
    }

    /// aria2 makes no more connections for a file than `split`, and than `max-connection-per-server` to its server.
    @Test func aFileHasTheSegmentsThatBothOptionsOfAria2Allow() async throws {
        let (tasks, result, _) = try await add(
            "http://a/1\n max-connection-per-server=4\nhttp://a/2\n split=8\n max-connection-per-server=2\n"
                + "http://a/3\n max-connection-per-server=8\n split=4\n")
        #expect(result.exit == .code(0) && result.errors.isEmpty, "\(result)")
        #expect(tasks.map { $0["segments"] } == [4, 2, 4])
    }

    /// RFC 9110 §7.6.1.
    @Test func fieldsOfABrowsersOwnConnectionAreIgnoredWithTheirLine() async throws {
        let (tasks, result, _) = try await add(
            "http://a/1\n header=connection: keep-alive\n header=TE: trailers\n header=X-A: 1\n")
        #expect(result.exit == .code(0), "\(result)")
        #expect(tasks.map { $0["headers"] } == [["X-A": "1"]])
        let reason = "it is about one connection, and xferd sets it itself"
        #expect(
            result.errors == """
                xferctl: line 2: header: connection ignored: \(reason)
                xferctl: line 3: header: TE ignored: \(reason)

                """)
    }

    @Test(
        arguments: [
            ("http-passwd=secret", "--password-file"), ("all-proxy=http://me:secret@p", "--proxy-user"),
            ("check-certificate=false", "xferctl policy"), ("chekcsum=sha-1=00", "did you mean checksum?"),
            ("checksum=sha-1=zz", "neither hex nor base64"), ("split=0", "expected a number from 1"),
            ("pause=yes", "expected true or false"), ("max-download-limit=fast", "such as 500K"),
            ("header=none", "Name: value"), ("out=", "out: "), ("dry-run=true", "transfers nothing"),
            ("out=../x", "beneath the directory"), ("out=/etc/x", "beneath the directory"),
            ("out=a/../../x", "beneath the directory"),
        ])
    func anOptionThatMattersRefusesItsEntryAlone(option: String, text: String) async throws {
        let (tasks, result, _) = try await add("http://a/1\n \(option)\nhttp://a/2\n")
        #expect(result.exit == .code(3), "\(result)")
        #expect(tasks.map { $0["url"] } == ["http://a/2"])
        #expect(result.errors.hasPrefix("xferctl: line 2: ") && result.errors.contains(text), "\(result)")
        #expect(!result.description.contains("secret"))
        let (none, atomic, _) = try await add("http://a/1\n \(option)\nhttp://a/2\n", ["--atomic"])
        #expect(none.isEmpty && atomic.exit == .code(3) && atomic.errors.contains("nothing was added"), "\(atomic)")
    }
}
