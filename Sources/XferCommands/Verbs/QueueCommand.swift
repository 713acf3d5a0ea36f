import ArgumentParser
import XferProtocol

/// `xferctl queue`: `queue.stats`, `queue.pause` and `queue.resume`.
struct QueueCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue", abstract: "Show, pause and resume the queue.",
        subcommands: [Stats.self, Pause.self, Resume.self], defaultSubcommand: Stats.self)

    struct Stats: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Show counts, rates and limits.")

        @OptionGroup var options: VerbOptions

        func run() throws {
            options.show(try options.open().call(QueueStats.self)) { stats, terminal in
                QueueText(style: terminal.style).lines(stats)
            }
        }
    }

    struct Pause: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Start nothing more; what runs goes on.",
            discussion: "Holds over restarts until `xferctl queue resume`.")

        @Flag(help: "Pause what runs, too.")
        var running = false

        @OptionGroup var options: VerbOptions

        func run() throws {
            let answer = try options.open().call(QueuePause.self, QueuePause.Params(running: running))
            options.show(answer) { result, _ in [QueueText.paused(result.paused)] }
        }
    }

    struct Resume: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "Resume the queue.")

        @Flag(help: "Try waiting tasks now, and ask hosts that are not asked for a while.")
        var now = false

        @OptionGroup var options: VerbOptions

        func run() throws {
            let answer = try options.open().call(QueueResume.self, QueueResume.Params(now: now))
            options.show(answer) { result, _ in [QueueText.paused(result.paused)] }
        }
    }
}
