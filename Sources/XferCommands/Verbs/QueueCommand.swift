import ArgumentParser
import XferProtocol

/// `xferctl queue`: `queue.stats`, `queue.pause` and `queue.resume`.
struct QueueCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "queue", abstract: "Show, pause and resume the queue.",
        subcommands: [Stats.self, Pause.self, Resume.self], defaultSubcommand: Stats.self)

    struct Stats: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "stats", abstract: "Show counts, rates and limits.")

        @OptionGroup var options: VerbOptions

        func run() throws {
            options.show(try options.open().call(QueueStats.self)) { stats, terminal in
                QueueText(style: terminal.style).lines(stats)
            }
        }
    }

    struct Pause: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "pause",
            abstract: "Pause the queue; running transfers continue.",
            discussion: """
                Applies until `xferctl queue resume`, also after restarts. With --running the running tasks return to \
                the queue and continue with their bytes then, except requests that must not be made twice. Paused \
                tasks stay paused until `xferctl resume ID`. To let a few tasks go on, pause the tasks instead \
                (`xferctl pause --all`), and resume these.
                """)

        @Flag(help: "Also return running tasks to the queue; they keep their bytes.")
        var running = false

        @OptionGroup var options: ActionOptions

        func run() throws {
            let answer = try options.open().call(QueuePause.self, QueuePause.Params(running: running))
            options.show(answer) { [running] result, _ in
                [QueueText.paused(result.paused) + (running ? ", and running tasks return to the queue" : "")]
            }
        }
    }

    struct Resume: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "resume", abstract: "Resume the queue.")

        @Flag(help: "Start waiting tasks now, and end the cooldowns of hosts.")
        var now = false

        @OptionGroup var options: ActionOptions

        func run() throws {
            let answer = try options.open().call(QueueResume.self, QueueResume.Params(now: now))
            options.show(answer) { result, _ in [QueueText.paused(result.paused)] }
        }
    }
}
