import Glibc
import Testing
import XferTestSupport

@Suite struct ChildProcessTests {
    @Test func collectsOutputAndExit() async throws {
        let result = try await Command.run("/bin/sh", ["-c", "cat; echo oops >&2; exit 3"], input: "hello\n")
        #expect(result.exit == .code(3))
        #expect(result.output == "hello\n")
        #expect(result.errors == "oops\n")
    }

    @Test func signalsAreSeen() async throws {
        let process = try ChildProcess("/bin/sleep", ["600"])
        #expect(process.isRunning)
        process.signal(SIGTERM)
        #expect(await process.exit() == .signal(SIGTERM))
        #expect(!process.isRunning)
    }

    @Test func dropsItsProcess() async throws {
        var process: ChildProcess? = try ChildProcess("/bin/sleep", ["600"])
        let pid = try #require(process?.pid)
        process = nil
        try await eventually("gone") { kill(pid, 0) != 0 }
    }

    @Test func missingProgramIsAnError() {
        #expect(throws: PosixError.self) { try ChildProcess("/nonexistent", []) }
    }
}
