import Glibc
import Testing
import XferTestSupport

/// A program on a terminal of tmux(1): what it shows is read, keys are pressed, the window gets other sizes. It ends with
/// the last reference.
final class TmuxScreen: Sendable {
    private let tmux: String
    private let directory: TemporaryDirectory

    /// Starts `command` with nothing but this environment, TERM and PATH.
    init(_ command: [String], environment: [String: String], columns: Int = 80, rows: Int = 24) async throws {
        guard let tmux = Command.find("tmux") else { throw TimedOut("tmux is not installed: apt-get install tmux") }
        self.tmux = tmux
        directory = try TemporaryDirectory("xfer-tmux")
        let settings = ["status off", "remain-on-exit on", "escape-time 0", "default-terminal screen-256color"]
        try FileTree.write(settings.map { "set -g \($0)\n" }.joined(), to: directory.file("tmux.conf"))
        let variables = environment.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value)" }
        try await run(
            ["new-session", "-d", "-x", "\(columns)", "-y", "\(rows)", "env", "-i", "TERM=screen-256color"] + variables
                + command)
    }

    deinit {
        // The server lives in a process of its own.
        if let pid = try? FileTree.text(directory.file("pid")), let number = Int32(pid, radix: 10) {
            kill(number, SIGKILL)
        }
    }

    @discardableResult
    private func run(_ arguments: [String]) async throws -> String {
        let fixed = ["-u", "-S", directory.file("socket"), "-f", directory.file("tmux.conf")]
        let ended = try await Command.run(
            tmux, fixed + arguments,
            environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "HOME": directory.path])
        guard ended.isSuccess else { throw TimedOut("tmux \(arguments): \(ended)") }
        if arguments.first == "new-session" {
            let pid = try await run(["display-message", "-p", "#{pid}"])
            try FileTree.write(String(pid.filter(\.isNumber)), to: directory.file("pid"))
        }
        return ended.output
    }

    /// Presses keys by the names that tmux gives them: `Down`, `Escape`, `x`.
    func press(_ keys: String...) async throws { try await run(["send-keys"] + keys) }

    /// Types text as it is.
    func type(_ text: String) async throws { try await run(["send-keys", "-l", text]) }

    func resize(columns: Int, rows: Int) async throws {
        try await run(["resize-window", "-x", "\(columns)", "-y", "\(rows)"])
    }

    /// The rows of the screen without trailing blanks.
    func rows() async throws -> [String] {
        try await run(["capture-pane", "-p"]).split(separator: "\n", omittingEmptySubsequences: false).dropLast()
            .map(String.init)
    }

    func text() async throws -> String { try await rows().joined(separator: "\n") }

    /// The screen with the sequences for colours and weights.
    func styledText() async throws -> String { try await run(["capture-pane", "-p", "-e"]) }

    /// A format of tmux, such as `#{alternate_on}`.
    func value(_ format: String) async throws -> String {
        String(try await run(["display-message", "-p", format]).prefix { $0 != "\n" })
    }

    /// Waits until the screen is as wanted, and gives its rows.
    @discardableResult
    func shows(
        _ what: String, within timeout: Duration = Patience.limit, _ isWanted: ([String]) -> Bool
    ) async throws -> [String] {
        var last: [String] = []
        do {
            return try await eventually("the screen shows \(what)", within: timeout) {
                last = try await rows()
                return isWanted(last) ? last : nil
            }
        } catch {
            throw TimedOut("\(error)\n\(last.joined(separator: "\n"))")
        }
    }

    /// Waits until a row of the screen has all of these texts.
    @discardableResult
    func showsRow(_ texts: String...) async throws -> [String] {
        try await shows("\(texts)") { rows in rows.contains { row in texts.allSatisfy { row.contains($0) } } }
    }

    /// Waits until the last row begins with this text.
    @discardableResult
    func showsFooter(_ text: String) async throws -> [String] {
        try await shows("\(text) at the bottom") { $0.last?.hasPrefix(text) ?? false }
    }
}
