import Glibc
import XferTestSupport

/// A bash that executes one command after the other, as a person's would: variables, jobs and `$?` last.
///
/// Each command has an output file of its own, which its background jobs go on writing to.
final class ConsoleShell {
    struct Output {
        fileprivate let file: String
        /// What was written so far, without bash's own words about a job that was killed: they come with whichever command
        /// runs when it notices.
        var text: String {
            let text = (try? FileTree.text(file)) ?? ""
            return text.replacing(#/(?m)^/bin/bash: line \d+: +\d+ Killed .*\n/#, with: "")
        }
    }

    private let scratch: TemporaryDirectory
    private let shell: ChildProcess
    private let input: Int32
    private var count = 0

    init(environment: [String: String], directory: String) throws {
        scratch = try TemporaryDirectory("xfer-console")
        let pipe = scratch.file("input")
        // Open at both ends, so that neither side waits for the other and the shell's input does not end.
        guard mkfifo(pipe, 0o600) == 0 else { throw PosixError("mkfifo \(pipe)") }
        input = open(pipe, O_RDWR | O_CLOEXEC)
        guard input >= 0 else { throw PosixError("open \(pipe)") }
        var options = ChildProcess.Options()
        options.environment = environment
        options.directory = directory
        options.input = pipe
        options.errors = scratch.file("errors")
        shell = try ChildProcess("/bin/bash", ["--noprofile", "--norc"], options: options)
        try send("last=0\n")
    }

    deinit { close(input) }

    /// Executes a command, and returns when it has ended; its background jobs may go on.
    func run(_ command: String) async throws -> Output {
        count += 1
        let output = Output(file: scratch.file("output-\(count)"))
        let status = scratch.file("status-\(count)")
        try send("{ (exit $last)\n\(command)\n} < /dev/null > '\(output.file)' 2>&1\nlast=$?; echo > '\(status)'\n")
        try await eventually("\(command) has ended; it wrote: \(output.text)", within: Patience.limit) {
            FileTree.exists(status)
        }
        return output
    }

    /// Ends the background jobs and the shell.
    func end() async throws {
        try send("jobs -p | xargs -r kill -9; exit\n")
        await shell.exit()
    }

    private func send(_ text: String) throws {
        let bytes = Array(text.utf8)
        guard write(input, bytes, bytes.count) == bytes.count else { throw PosixError("write to bash") }
    }
}
