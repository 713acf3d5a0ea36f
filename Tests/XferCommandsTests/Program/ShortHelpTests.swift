import StrictJSON
import Testing
import XferTestSupport

@testable import XferCommands

@Suite struct ShortHelpTests {
    @Test func everyOptionOfTheShortHelpExists() throws {
        let names = try #require(try CommandTree.ofThisProgram().subcommand("add")).arguments.flatMap(\.names)
        for option in ShortHelp.optionsOfAdd { #expect(names.contains(option), "\(option)") }
        #expect(ShortHelp.optionsOfAdd.count == 16)
    }

    @Test func everyVerbOfTheFirstTextExists() throws {
        let tree = try CommandTree.ofThisProgram()
        let lines = ShortHelp.root.split(separator: "\n").filter { $0.hasPrefix("  ") }
        #expect(lines.count == 10)
        for line in lines {
            let verb = try #require(line.split(separator: " ").first)
            #expect(tree.subcommand(String(verb)) != nil, "\(verb)")
        }
    }

    @Test func theHelpOfAddShowsWhatIsUsedMostAndLeadsToAll() throws {
        for line in ["add --help", "add -h", "help add", "add http://h/ --help", "--json add --help"] {
            let words = line.split(separator: " ").map(String.init)
            let text = try #require(ShortHelp.text(for: words), "\(line)")
            #expect(text.contains("--help-all") && text.contains("--checksum") && !text.contains("--resolve"))
            #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 }, "\(text)")
        }
        for line in ["add --help-all", "list --help", "add -- --help", "--help", "help list", "help", "add http://h/"] {
            #expect(ShortHelp.text(for: line.split(separator: " ").map(String.init)) == nil, "\(line)")
        }
    }

    @Test func theWholeHelpOfAddIsOneOptionAway() async throws {
        let all = try await Program.run(["add", "--help-all"])
        #expect(all.exit == .code(0) && all.output.contains("--aws-sigv4"), "\(all)")
        let alone = try await Program.run([])
        #expect(alone.exit == .code(0) && alone.output == ShortHelp.root + "\n", "\(alone)")
    }

    /// The writer waits until the reader has closed the pipe.
    private func runWithoutReader(_ arguments: [String], socket: String = "") async throws -> Command.Result {
        let shell = try #require(Command.find("sh"))
        let directory = try TemporaryDirectory()
        let script = """
            go=$1; shift; mkfifo "$go" || exit
            { cat "$go"; "$0" "$@"; echo "status $?" >&2; } | { exec <&-; : > "$go"; }
            """
        return try await Command.run(
            shell, ["-c", script, try Program.path, directory.file("go")] + arguments,
            environment: ["PATH": "/usr/bin:/bin", "XFERD_SOCKET": socket])
    }

    @Test func aReaderThatClosesThePipeEndsTheCommandQuietly() async throws {
        let result = try await runWithoutReader(["man"])
        #expect(result.errors == "status 0\n", "\(result)")
    }

    @Test func aStreamOfEventsEndsWhenItsReaderHasGoneThoughNothingHappens() async throws {
        let daemon = try ScriptedDaemon { _, _ in .result(["subscription": 1, "last_seq": 1]) }
        let result = try await runWithoutReader(["events"], socket: daemon.socket)
        #expect(result.errors == "status 0\n", "\(result)")
    }
}
