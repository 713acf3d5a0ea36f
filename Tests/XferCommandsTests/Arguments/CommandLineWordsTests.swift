import ArgumentParser
import Testing
import XferTestSupport

@testable import XferCommands

@Suite struct CommandLineWordsTests {
    private func ordered(_ line: String) throws(CommandFailure) -> String {
        let words = line.split(separator: " ").map(String.init)
        return try CommandLineWords(words: words).ordered().joined(separator: " ")
    }

    @Test(arguments: [
        ("--json list", "list --json"), ("--socket /s list --failed", "list --socket /s --failed"),
        ("--socket=/s --json policy set a", "policy set --socket=/s --json a"), ("--system status", "status --system"),
        ("--json", "--json"), ("--help", "--help"), ("--version", "--version"), ("-- list", "-- list"),
        ("--wait add http://h/", "--wait add http://h/"), ("list --json", "list --json"), ("", ""),
    ])
    func anOptionOfEveryVerbMayStandBeforeTheVerb(line: String, expected: String) throws {
        #expect(try ordered(line) == expected)
    }

    @Test(arguments: [
        ("list -n1", "list -n 1"), ("list -n=1", "list -n 1"), ("add -ofile http://h/", "add -o file http://h/"),
        ("add -i-", "add -i -"), ("add -o -x http://h/", "add -o -x http://h/"), ("add -- -ofile", "add -- -ofile"),
        ("add -ofile -- -ofile", "add -o file -- -ofile"), ("list -xyz", "list -xyz"), ("pause -1", "pause -1"),
        ("add -o -- -ofile", "add -o -- -o file"),
    ])
    func theValueOfAShortOptionMayBeJoinedToIt(line: String, expected: String) throws {
        #expect(try ordered(line) == expected)
    }

    @Test(arguments: [
        ("remov", "unknown command \"remov\"; did you mean remove?"),
        ("--json lst", "unknown command \"lst\"; did you mean list?"),
        ("https://me:secret@h/", "a command is expected before the URL; did you mean `xferctl add URL`?"),
        ("frobnicate 1 2", "unknown command \"frobnicate\"; see `xferctl --help`"),
        ("help paus", "unknown command \"paus\"; did you mean pause?"),
        ("help policy sett", "unknown command \"sett\"; did you mean set?"),
        ("policy sett", "unknown command \"sett\"; did you mean set?"),
        ("policy frobnicate", "unknown command \"frobnicate\"; see `xferctl policy --help`"),
    ])
    func anUnknownCommandIsRefusedWithTheOneThatWasMeant(line: String, message: String) {
        #expect(throws: CommandFailure.usage(message)) { try ordered(line) }
    }

    @Test(arguments: ["rm 7", "ls", "info 7", "start 7", "stop 7", "help add", "help group pause"])
    func anAliasAndHelpAreKnownCommands(line: String) throws {
        #expect(try ordered(line) == line)
    }

    @Test(arguments: [
        ("remove --files --completed", "unknown option --completed; see `xferctl remove --help`"),
        ("list --jsn", "unknown option --jsn; did you mean --json?"),
        ("pause --sate=failed", "unknown option --sate; did you mean --state?"),
        ("remove --files", nil), ("add -- --json", nil), ("fly --fast", nil),
    ])
    func anUnknownOptionIsNamedBeforeWhatElseIsWrong(line: String, message: String?) {
        #expect(CommandLineWords(words: line.split(separator: " ").map(String.init)).unknownOption == message)
    }

    @Test func theParserReadsOptionsBeforeTheVerbAndJoinedValues() throws {
        let words = try CommandLineWords(words: ["--socket", "/s", "ls", "-n3"]).ordered()
        let command = try #require(try RootCommand.parseAsRoot(words) as? ListCommand)
        #expect(command.pages.limit == 3 && command.options.connection.socket == "/s")
    }
}
