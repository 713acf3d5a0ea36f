import Glibc
import Logging
import NIOConcurrencyHelpers
import StrictJSON
import XferCore
import XferFiles
import XferModel
import XferProtocol

/// Runs the operator's commands, a few at a time, and writes their output to the log.
///
/// Hooks that process files and hooks for ended tasks have separate threads, so that neither kind delays the other.
final class HookRunner: Sendable {
    /// The highest number of running hooks of each of the two kinds.
    static let maxAtOnce = 4

    /// The definitions by name; a reload replaces them.
    let definitions: NIOLockedValueBox<[String: HookDefinition]>
    private let processing = BlockingPool("xferd-hooks", threadCount: maxAtOnce)
    private let telling = BlockingPool("xferd-telling", threadCount: maxAtOnce)
    private let logger: Logger

    init(_ definitions: [HookDefinition], logger: Logger) {
        self.definitions = NIOLockedValueBox(Self.byName(definitions))
        self.logger = logger
        // The parent process may have set SIGCHLD to be ignored (sigaction(2)); then exit codes would be lost.
        var action = sigaction()
        if sigaction(SIGCHLD, nil, &action) == 0,
            unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
        {
            signal(SIGCHLD, SIG_DFL)
        }
    }

    static func byName(_ definitions: [HookDefinition]) -> [String: HookDefinition] {
        Dictionary(definitions.map { ($0.name, $0) }) { $1 }
    }

    /// The input of a hook.
    struct Occasion: Sendable {
        var kind: HookOccasion
        var hook: String
        var task: TaskID
        /// The absolute path of the hook's file.
        var file: String?
        /// The name that the file has or is to get.
        var name: String?
        /// The task, for standard input.
        var description: String
    }

    /// Runs a hook to its end; nil if no hook of that name is defined.
    func run(_ occasion: Occasion, stop: HookStop) async -> HookProcess.Report? {
        guard let definition = definitions.withLockedValue({ $0[occasion.hook] }) else { return nil }
        return await execute(
            Self.command(definition, occasion), on: occasion.kind == .postProcess ? processing : telling,
            facts: ["hook": "\(occasion.hook)", "task": "\(occasion.task)"], stop: stop)
    }

    /// Runs the hook that renews a profile's credential; nil if no hook of that name is defined.
    func renewCredential(
        of profile: String, by hook: String, origin: Origin, for task: TaskID, stop: HookStop
    ) async -> HookProcess.Report? {
        guard let definition = definitions.withLockedValue({ $0[hook] }) else { return nil }
        var input = JSONObject()
        input["profile"] = .string(profile)
        input["origin"] = .string(origin.text)
        input["task"] = .integer(task.rawValue)
        let command = HookProcess.Command(
            arguments: definition.arguments,
            environment: [
                "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "XFER_HOOK=\(definition.name)",
                "XFER_OCCASION=credential", "XFER_PROFILE=\(profile)", "XFER_TASK=\(task)",
            ],
            input: Array((JSONValue.object(input).text + "\n").utf8), timeout: .seconds(definition.timeout))
        return await execute(
            command, on: processing, facts: ["hook": "\(hook)", "profile": "\(profile)"], stop: stop)
    }

    private func execute(
        _ command: HookProcess.Command, on pool: BlockingPool, facts: Logger.Metadata, stop: HookStop
    ) async -> HookProcess.Report {
        let logger = logger
        let report = await pool.run {
            HookProcess.run(command, stop: stop) { line in
                logger.info("hook: \(line)", metadata: facts)
            }
        }
        var end = facts
        end["end"] = "\(report.end.sentence)"
        if report.discarded > 0 { end["discarded_bytes"] = "\(report.discarded)" }
        if report.end == .exited(0) {
            logger.debug("a hook has ended", metadata: end)
        } else {
            logger.warning("a hook has not succeeded", metadata: end)
        }
        return report
    }

    private static func command(_ definition: HookDefinition, _ occasion: Occasion) -> HookProcess.Command {
        var environment = [
            "PATH=/usr/local/bin:/usr/bin:/bin", "LANG=C.UTF-8", "XFER_HOOK=\(definition.name)",
            "XFER_OCCASION=\(occasion.kind.rawValue)", "XFER_TASK=\(occasion.task)",
        ]
        if let file = occasion.file { environment.append("XFER_FILE=\(file)") }
        if let name = occasion.name { environment.append("XFER_NAME=\(name)") }
        let file = occasion.kind == .postProcess ? occasion.file : nil
        return HookProcess.Command(
            arguments: definition.arguments + (file.map { [$0] } ?? []), environment: environment,
            input: Array((occasion.description + "\n").utf8), timeout: .seconds(definition.timeout))
    }
}

extension HookProcess.End {
    /// Completes a sentence that begins with "the hook …".
    var sentence: String {
        switch self {
        case .exited(let code): "ended with exit code \(code)"
        case .signalled(let number): "was ended by signal \(number)"
        case .timedOut: "did not end in time"
        case .stopped: "was stopped"
        case .notStarted(let code): "could not be started: \(String(cString: strerror(code)))"
        }
    }
}

extension TransferTask {
    /// The task as its hooks read it: its record as JSON text, without secrets.
    var hookDescription: String { TaskRecord(self).wire.text }
}
