import Glibc
import Testing
import XferSystem
import XferTestSupport

@Suite struct ChildProcessTests {
    @Test func aChildProcessReportsItsOutputAndExit() async throws {
        let result = try await Command.run("/bin/sh", ["-c", "cat; echo oops >&2; exit 3"], input: "hello\n")
        #expect(result.exit == .code(3))
        #expect(result.output == "hello\n")
        #expect(result.errors == "oops\n")
    }

    /// A test that fails beside an `async let` of a program ends then, and not when the program does.
    @Test func aCancelledRunKillsItsProgram() async throws {
        let run = Task { try await Command.run("/bin/sleep", ["3600"]) }
        run.cancel()
        #expect(try await run.value.exit == .signal(SIGKILL))
    }

    @Test func aChildProcessEndedByASignalReportsIt() async throws {
        let process = try ChildProcess("/bin/sleep", ["600"])
        #expect(process.isRunning)
        process.signal(SIGTERM)
        #expect(await process.exit() == .signal(SIGTERM))
        #expect(!process.isRunning)
    }

    @Test func aReleasedChildProcessIsKilled() async throws {
        var process: ChildProcess? = try ChildProcess("/bin/sleep", ["600"])
        let pid = try #require(process?.pid)
        process = nil
        try await eventually("gone") { kill(pid, 0) != 0 }
    }

    @Test func aMissingProgramIsAnError() {
        #expect(throws: SystemCallError.self) { try ChildProcess("/nonexistent", []) }
    }
}
