import Testing
import XferTestSupport

/// What README.md and the guide show is what the programs do.
///
/// Each document has a daemon, a home and a shell of its own, and its blocks are executed from the first to the last.
struct DocumentTests {
    private static let tree = DocumentTree()

    @Test(arguments: tree.documents) func everyConsoleBlockPrintsTheOutputInItsDocument(path: String) async throws {
        let blocks = ConsoleBlock.all(in: try Self.tree.contents(of: path)).filter { !$0.isSkipped }
        guard !blocks.isEmpty else { return }
        let doubles = try await DocumentDoubles()
        let daemon = try DaemonFixture()
        try doubles.furnish(daemon)
        let steps = blocks.flatMap(\.steps)
        if !steps.contains(where: \.startsDaemon) { try await daemon.start() }
        let shell = try ConsoleShell(
            environment: try Self.environment(of: daemon), directory: daemon.directory.path)
        for step in steps { try await Self.check(step, of: path, shell, doubles, home: daemon.directory.path) }
        try await shell.end()
        await daemon.terminate()
    }

    @Test func everyNorunBlockHasAReasonAndEveryReasonItsBlock() throws {
        let blocks = try Self.tree.documents.flatMap { path in
            ConsoleBlock.all(in: try Self.tree.contents(of: path)).filter(\.isSkipped)
                .map { "\(path): $ \($0.firstLine)" }
        }
        let reasons = try NorunReason.all(in: Self.tree.contents(of: "docs/norun.txt"))
        #expect(Set(blocks) == Set(reasons.map(\.block)))
        #expect(reasons.filter(\.text.isEmpty).map(\.block) == [])
    }

    private static func environment(of daemon: DaemonFixture) throws -> [String: String] {
        let path = "\(try Command.productsDirectory):/usr/local/bin:/usr/bin:/bin"
        return daemon.environment.merging([
            "PATH": path, "XFERD_STATE_DIR": daemon.stateDirectory, "XFERD_CONFIG": daemon.configurationFile,
        ]) { $1 }
    }

    /// A command that only reads is repeated until it prints what it should, and a background job may take its time.
    private static func check(
        _ step: ConsoleBlock.Step, of path: String, _ shell: ConsoleShell, _ doubles: DocumentDoubles, home: String
    ) async throws {
        let command = doubles.localised(step.command)
        let comparison = ConsoleOutput(home: home)
        var output = try await shell.run(command)
        if step.mayChange, !comparison.matches(output.text, step.output) {
            do {
                try await eventually("the command prints what it should", within: Patience.limit) {
                    if step.onlyReads { output = try await shell.run(command) }
                    return comparison.matches(output.text, step.output)
                }
            } catch is TimedOut {
                // What was printed last is compared below, and shown.
            }
        }
        let text = output.text
        try #require(
            comparison.matches(text, step.output),
            """
            \(path):\(step.line): $ \(command)
            expected:
            \(step.output.joined(separator: "\n"))
            printed:
            \(text)
            """)
    }
}

extension ConsoleBlock {
    /// Names the block in `docs/norun.txt`.
    var firstLine: Substring { steps.first?.command.prefix { $0 != "\n" } ?? "" }
}

extension ConsoleBlock.Step {
    var startsDaemon: Bool { command == "xferd &" }
    var mayChange: Bool { startsDaemon || onlyReads }

    /// Whether repeating the command changes nothing.
    var onlyReads: Bool {
        let readers = [
            "list", "show", "queue", "status", "hook", "cache list", "group show", "batch list", "batch show",
            "slot show",
            "events",
            "network", "rpc queue.stats", "webhook list",
        ]
        return readers.contains { command.hasPrefix("xferctl \($0)") } || command == "xferctl cache"
            || command == "xferctl failed-url" || command.hasPrefix("curl ") || command.hasPrefix("xferd --check")
    }
}

/// The documents whose blocks are executed.
struct DocumentTree: Sendable {
    private let root: String

    init(file: String = #filePath) { root = file.split(separator: "/").dropLast(4).reduce("") { "\($0)/\($1)" } }

    var documents: [String] {
        let guide = (try? FileTree.names(in: "\(root)/docs/guide")) ?? []
        return ["README.md"] + guide.sorted().map { "docs/guide/\($0)" }
    }

    func contents(of path: String) throws -> String { try FileTree.text("\(root)/\(path)") }
}

/// Why a block cannot run beside the tests: a line `PATH: $ FIRST COMMAND`, and the reason indented below it.
struct NorunReason {
    let block: String
    var text = ""

    static func all(in text: String) -> [NorunReason] {
        var reasons: [NorunReason] = []
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            if !line.hasPrefix(" ") {
                reasons.append(NorunReason(block: String(line)))
            } else if let last = reasons.indices.last {
                reasons[last].text += line.drop { $0 == " " }
            }
        }
        return reasons
    }
}
