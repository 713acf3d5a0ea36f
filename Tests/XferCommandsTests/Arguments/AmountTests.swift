import Testing
import XferModel
import XferProtocol

@testable import XferCommands

@Suite struct AmountTests {
    @Test(
        arguments: [
            ("0", 0), ("500", 500), ("64K", 64_000), ("64k", 64_000), ("64Ki", 65_536), ("1.5M", 1_500_000),
            ("256MiB", 268_435_456),
            ("2G", 2_000_000_000), ("1Gi", 1_073_741_824), ("1T", 1_000_000_000_000), (".5Ki", 512),
            ("10 MB/s", 10_000_000),
        ] as [(String, Int64)])
    func sizesAreParsed(text: String, bytes: Int64) {
        #expect(ByteAmount(parsing: text)?.bytes == bytes)
    }

    @Test(arguments: ["", "K", "-1", "1X", "1..2", "1e3", "9223372036854775808", "9300000T", "0x10", "٣", "1 K i"])
    func textsThatAreNoSizesAreRejected(text: String) {
        #expect(ByteAmount(parsing: text) == nil)
    }

    @Test(arguments: [
        ("30", 30), ("30s", 30), ("5m", 300), ("2h", 7200), ("1d", 86_400), ("1h30m", 5400), ("0.5", 0.5),
        ("250ms", 0.25),
    ])
    func durationsAreParsed(text: String, seconds: Double) {
        #expect(TimeSpan(parsing: text)?.seconds == seconds)
    }

    @Test(arguments: ["", "s", "-5", "5x", "1h30", "1h 30m", "99999999999999d"])
    func textsThatAreNoDurationsAreRejected(text: String) {
        #expect(TimeSpan(parsing: text) == nil)
    }

    @Test func aShortDurationIsNeverRoundedToZero() {
        #expect(TimeSpan(seconds: 0.25).wholeSeconds == 1)
    }
}

@Suite struct PathResolverTests {
    private let paths = PathResolver(workingDirectory: "/home/me")

    @Test(
        arguments: [
            (nil, "a.iso", nil, "/home/me/a.iso"), (nil, "sub/a.iso", nil, "/home/me/sub/a.iso"),
            ("/data", "a.iso", "/data", "a.iso"), ("/", "a.iso", "/", "a.iso"),
            ("/data", "b/a.iso", nil, "/data/b/a.iso"),
            ("data", "x/../a.iso", "/home/me/data", "a.iso"), ("data", "/abs/a", nil, "/abs/a"), (nil, "/a", nil, "/a"),
            ("../you", "a", "/home/you", "a"), ("data", nil, "/home/me/data", nil),
        ] as [(String?, String?, String?, String?)])
    func relativePathsMeanTheCallersDirectory(
        directory: String?, output: String?, expected: String?, expectedOutput: String?
    ) throws {
        let destination = try paths.destination(directory: directory, output: output)
        #expect(destination.dir == expected)
        #expect(destination.output == expectedOutput)
    }

    @Test(arguments: ["sub", "./sub", "~/sub"])
    func aDirectoryOfAnotherMachineIsAbsolute(directory: String) throws {
        for output in [nil, "a.iso"] {
            #expect(throws: CommandFailure.self) {
                try PathResolver.remote.destination(directory: directory, output: output)
            }
        }
        let destination = try PathResolver.remote.destination(directory: "/data", output: "a.iso")
        #expect(destination.dir == "/data" && destination.output == "a.iso")
    }

    @Test func withoutDirectoryAndNameBothAreLeftToTheDaemon() throws {
        let destination = try paths.destination(directory: nil, output: nil)
        #expect(destination.dir == nil && destination.output == nil)
    }

    @Test(arguments: ["", "dir/", "..", "a/..", "/"])
    func aDirectoryAsOutputIsRefused(output: String) {
        #expect(throws: CommandFailure.self) { try paths.destination(directory: nil, output: output) }
    }
}

@Suite struct ArgumentTextTests {
    @Test func headersAreParsedAsInCurl() {
        #expect(
            HeaderArgument(argument: "X-Token:  a b: c") == .field(HeaderField(name: "X-Token", value: "a b: c")))
        #expect(HeaderArgument(argument: "Accept:") == .field(HeaderField(name: "Accept", value: "")))
        #expect(HeaderArgument(argument: "@headers.txt") == .file("headers.txt"))
        #expect(HeaderArgument(argument: "no colon") == nil)
        #expect(HeaderArgument(argument: "Bad Name: x") == nil)
        #expect(HeaderArgument(argument: "X: a\r\nEvil: b") == nil)
    }

    @Test func aDigestOf64HexDigitsAloneIsSHA256() throws {
        let digits = String(repeating: "0aF", count: 21) + "1"
        #expect(try Checksum.option(digits) == Checksum(parsing: "sha-256=\(digits)"))
        #expect(throws: (any Error).self) { try Checksum.option(String(digits.dropLast())) }
        #expect(throws: (any Error).self) { try Checksum.option(digits.replacing("0", with: "g")) }
        #expect(try Checksum.option("md5=d41d8cd98f00b204e9800998ecf8427e").algorithm == .md5)
    }
}
