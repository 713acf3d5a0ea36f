import Testing

@testable import XferCommands

@Suite struct SuggestedCommandTests {
    @Test(
        arguments: [
            (["list"], "xferctl"),
            (["--fleet", "wait", "7"], "xferctl --fleet"),
            (["wait", "7", "--user"], "xferctl --user"),
            (["--socket=/run/x.sock", "list"], "xferctl --socket=/run/x.sock"),
            (["add", "--socket", "/a b/it's", "http://h/"], "xferctl --socket '/a b/it'\\''s'"),
            (
                ["--server", "https://h:1", "--token-file", "t", "--server-ca", "c", "list"],
                "xferctl --server https://h:1 --token-file t --server-ca c"
            ),
            (["add", "--", "--fleet"], "xferctl"),
            (["list", "--socket"], "xferctl --socket"),
        ])
    func aSuggestedCommandLeadsToTheDaemonThatTheCommandLineLedTo(arguments: [String], prefix: String) {
        #expect(SuggestedCommand.prefix(for: arguments) == prefix)
    }

    /// `status` has no options but those that every verb has.
    @Test func theOptionsAreThoseThatChooseTheDaemon() throws {
        let status = try #require(try CommandTree.ofThisProgram().subcommand("status"))
        func names(_ kind: CommandTree.Argument.Kind) -> Set<Substring> {
            Set(status.arguments.filter { $0.kind == kind }.flatMap(\.names).map { $0[...] })
        }
        #expect(names(.flag).subtracting(["--json", "--help", "-h", "--version"]) == SuggestedCommand.flags)
        #expect(names(.option) == SuggestedCommand.options)
    }
}
