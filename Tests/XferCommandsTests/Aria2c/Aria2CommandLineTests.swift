import Testing
import XferAria2
import XferModel
import XferProtocol

@testable import XferCommands

/// What becomes of aria2c's command lines.
struct Aria2CommandLineTests {
    private func job(_ words: [String], files: [String: String] = [:]) throws -> Aria2Job {
        try Aria2Job(try Aria2CommandLine(words), paths: PathResolver(workingDirectory: "/home/ada")) {
            name throws(Aria2Fault) in
            guard let text = files[name] else { throw Aria2Fault("\(name): no such file") }
            return Array(text.utf8)
        }
    }

    @Test func longAndShortOptionsAreReadAsGetoptReadsThem() throws {
        let line = try Aria2CommandLine([
            "-x16", "-s", "8", "-cq", "-Rfalse", "--out", "a", "--dir=b", "--remote-time", "u", "--", "-v",
        ])
        let expected = [
            ("max-connection-per-server", "16"), ("split", "8"), ("continue", "true"), ("quiet", "true"),
            ("remote-time", "false"), ("out", "a"), ("dir", "b"), ("remote-time", "true"),
        ]
        #expect(line.options.map(\.name) == expected.map(\.0) && line.options.map(\.value) == expected.map(\.1))
        #expect(line.arguments == ["u", "-v"] && !line.wantsVersion)
        #expect(try Aria2CommandLine(["-v"]).wantsVersion)
    }

    @Test(arguments: [["-o"], ["--out"], ["-y"], ["-é"]])
    func aLineThatCannotBeReadIsRefused(words: [String]) {
        #expect(throws: Aria2Fault.self) { try Aria2CommandLine(words) }
    }

    /// The command of yt-dlp 2026.
    @Test func theCommandOfYtDlpIsAccepted() throws {
        let cookies =
            "# Netscape HTTP Cookie File\n\n.a.test\tTRUE\t/\tFALSE\t0\tk\tv\n#HttpOnly_b.test\tFALSE\t/x\tTRUE\t9\tn\t\n"
        let job = try job(
            [
                "--no-conf", "--auto-save-interval=10", "--console-log-level=warn", "--summary-interval=0",
                "--download-result=hide", "--http-accept-gzip=true", "--file-allocation=none", "-x16", "-j16", "-s16",
                "--min-split-size", "1M", "--load-cookies=cookies", "--header", "Accept: */*",
                "--max-overall-download-limit", "50K", "--check-certificate=true", "--remote-time=true",
                "--show-console-readout=true", "--remove-control-file=true", "--allow-overwrite=true",
                "--always-resume=false", "--auto-file-renaming=false", "--force-save=false", "--dir", "./sub/", "--out",
                "./v.mp4.part", "--", "http://a.test/v",
            ], files: ["cookies": cookies])
        let task = try #require(job.tasks.first)
        #expect(task.url == "http://a.test/v" && task.dir == "/home/ada/sub" && task.output == "./v.mp4.part")
        #expect(task.limits.segments == .set(.exactly(16)) && task.limits.maxReceiveRate == .set(51_200))
        #expect(task.destination.onConflict == .set(.overwrite) && task.limits.maxRetries == .set(4))
        guard case .set(let list) = task.access.cookieList else { throw Aria2Fault("no cookies") }
        #expect(list.map(\.domain) == ["a.test", "b.test"] && list.map { $0.secure ?? false } == [false, true])
        #expect(job.hidesResults && job.showsProgress)
    }

    @Test func linesOfACookieFileThatAreNoCookiesAreCountedInAWarning() throws {
        let file = "junk\n.a.test\tTRUE\t/\tFALSE\t0\tk\tv\nmore junk\n"
        let job = try job(["--load-cookies=jar", "http://a.test/v"], files: ["jar": file])
        #expect(
            job.warnings == [
                "warning: --load-cookies: 2 lines of jar are not cookies, the first is line 1; the one cookie left is used"
            ])
        guard case .set(let list) = job.tasks.first?.access.cookieList else { throw Aria2Fault("no cookies") }
        #expect(list.map(\.domain) == ["a.test"])
        let none = try self.job(["--load-cookies=jar", "http://a.test/v"], files: ["jar": "junk\n"])
        #expect(none.warnings == ["warning: --load-cookies: line 1 of jar is not a cookie; no cookie is left"])
    }

    @Test func aFileIsContinuedUnlessItMayBeOverwritten() throws {
        #expect(try job(["-c", "http://h/a"]).tasks.first?.destination.onConflict == .set(.continue))
        #expect(try job(["http://h/a"]).tasks.first?.destination.onConflict == .unchanged)
        #expect(
            try job(["-c", "--allow-overwrite=true", "http://h/a"]).tasks.first?.destination.onConflict
                == .set(.overwrite))
    }

    @Test func anInputFileHasDownloadsWithOptionsOfTheirOwn() throws {
        let list = "# list\nhttp://a.test/1\thttp://b.test/1\n  out=one\n\tdir=/srv\n\nhttp://a.test/2\n"
        let job = try job(["-i", "list", "-d", "x"], files: ["list": list])
        #expect(job.tasks.map(\.output) == ["one", nil] && job.tasks.map(\.dir) == ["/srv", "/home/ada/x"])
        #expect(job.tasks[0].urls?.count == 2 && job.tasks[1].url == "http://a.test/2")
        #expect(throws: Aria2Fault.self) { try self.job(["-i", "list"], files: ["list": " out=x\n"]) }
        #expect(throws: Aria2Fault.self) { try self.job(["-i", "gone"]) }
    }

    @Test func aFaultOfAnInputFileNamesItsURI() {
        let list = "http://a.test/1\nhttp://me:secret@b.test/2\n  out=../x\n"
        let fault = #expect(throws: Aria2Fault.self) { try self.job(["-i", "list"], files: ["list": list]) }
        #expect(fault?.message.contains("b.test/2: out") == true && fault?.message.contains("secret") == false)
    }

    @Test func urisAreMirrorsUnlessTheyAreSequential() throws {
        #expect(try job(["http://a.test/", "http://b.test/"]).tasks.count == 1)
        #expect(try job(["-Z", "http://a.test/", "http://b.test/"]).tasks.count == 2)
        #expect(throws: Aria2Fault.self) { try job([]) }
    }

    @Test(arguments: [
        ["--check-certificate=false"], ["--on-download-complete=/bin/sh"], ["--save-session=x"], ["--dry-run"],
        ["-T", "a.torrent"], ["--certificate=x"], ["--interface=eth0"], ["-D"], ["--load-cookies=gone"],
    ])
    func whatCannotBeHonouredIsRefused(words: [String]) {
        #expect(throws: Aria2Fault.self, "\(words)") { try job(words + ["http://a.test/"]) }
    }

    @Test func directoriesAreAbsolute() {
        let paths = PathResolver(workingDirectory: "/home/ada")
        #expect(paths.absolute("") == "/home/ada")
        #expect(paths.absolute("./a/../b//c/") == "/home/ada/b/c")
        #expect(paths.absolute("/x/../../y") == "/y")
    }

    @Test func textsForTerminalsAreTotal() {
        #expect(Aria2ProgressText.bytes(0) == "0B" && Aria2ProgressText.bytes(1536) == "1.5KiB")
        #expect(Aria2ProgressText.bytes(.max).hasSuffix("PiB") && Aria2ProgressText.bytes(.min) == "0B")
        var task = TaskRecord()
        task.id = TaskID(3)
        task.progress = ProgressRecord(received: .max, total: 1, rate: .max, eta: .max)
        #expect(Aria2ProgressText.line([task]).contains("(100%)"))
    }
}
