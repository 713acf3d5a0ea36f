import Testing
import XferClient

@testable import XferCommands

@Suite struct CommandFailureTests {
    /// Ctrl-C while a call is under way.
    @Test func anInterruptedCallEndsAsInterrupted() {
        #expect(CommandFailure(ConnectionError.interrupted).status == .interrupted)
        #expect(CommandFailure(CallError.connection(.interrupted)).status == .interrupted)
    }

    @Test(arguments: [
        ("output", "-o"), ("tasks[3].dir", "-d"), ("parts[0].file", "-F"), ("body.file", "--data-binary"),
        ("retry_non_idempotent", "--retry-non-idempotent"), ("max_recv_rate", "--limit-rate"),
        // Set by `add` itself; of several options; no field.
        ("retry_failed", nil), ("credential", nil), ("there is no task 5", nil), ("", nil),
    ])
    func aFieldHasTheOptionThatSetsIt(field: String, option: String?) {
        #expect(FieldOptions.option(field) == option)
    }

    @Test(arguments: [
        ("tasks[3].dir: not allowed", "tasks[3].-d: not allowed"), ("tasks[: x]. y", "tasks[: x]. y"), (": ", ": "),
        ("tasks[0]. : x", "tasks[0]. : x"), ("tasks[0].: x", "tasks[0].: x"), ("", ""),
    ])
    func aRefusalOfAnyFormIsShown(message: String, expected: String) {
        #expect(CommandFailure(.refused, message).namingOptions().message == expected)
    }

    @Test func messagesNameOptionsThatAddHas() throws {
        let add = try #require(try CommandTree.ofThisProgram().subcommand("add"))
        let names = Set(add.arguments.flatMap(\.names))
        #expect(FieldOptions.all.filter { !names.contains($0) } == [])
    }

    @Test(arguments: [
        ("not sent twice without retry_non_idempotent or a", "not sent twice without --retry-non-idempotent or a"),
        ("1 MiB (max_size), and", "1 MiB (--max-size), and"), ("a directory /d/max_size", "a directory /d/max_size"),
        ("allow_hidden (--allow-hidden) allows it", "allow_hidden (--allow-hidden) allows it"),
        ("not before 03:29 without retry_failed", "not before 03:29 without retry_failed"),
    ])
    func fieldsInAMessageBecomeOptions(message: String, expected: String) {
        #expect(FieldOptions.named(message) == expected)
    }
}
