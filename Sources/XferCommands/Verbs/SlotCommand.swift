import ArgumentParser
import XferProtocol

/// `xferctl slot`: the `slot.*` methods.
struct SlotCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "slot", abstract: "Show, empty or cancel a slot, which one task at a time occupies.",
        discussion: """
            `xferctl add --slot NAME` puts a task into a slot of yours: the task in it is cancelled and ends as \
            task.superseded. A task leaves its slot when it ends; one that is retried joins it again.
            """,
        subcommands: [Show.self, Detach.self, Cancel.self])

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show", abstract: "Show the task in a slot.", aliases: ["get"])

        @Argument(help: "The slot's name.", completion: .daemon(.slots))
        var name: String

        @OptionGroup var options: VerbOptions

        func run() throws {
            let answer = try options.open().call(SlotGet.self, SlotGet.Params(slot: name))
            options.show(answer) { result, terminal in
                guard let task = result.task else { return [SlotText.empty(name)] }
                return TaskDetails(style: terminal.style, now: .now).lines(task)
            }
        }
    }

    struct Detach: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "detach",
            abstract: "Empty a slot; the task continues.",
            discussion: "A task that is added to the slot later does not cancel it.")

        @Argument(help: "The slot's name.", completion: .daemon(.slots))
        var name: String

        @OptionGroup var options: ActionOptions

        func run() throws {
            let answer = try options.open().call(SlotDetach.self, SlotGet.Params(slot: name))
            options.show(answer) { result, _ in [SlotText.line(result, of: name, participle: "detached")] }
        }
    }

    struct Cancel: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "cancel", abstract: "Cancel the task in a slot.")

        @Argument(help: "The slot's name.", completion: .daemon(.slots))
        var name: String

        @OptionGroup var options: ActionOptions

        func run() throws {
            let answer = try options.open().call(SlotCancel.self, SlotGet.Params(slot: name))
            options.show(answer) { result, _ in [SlotText.line(result, of: name, participle: "cancelled")] }
        }
    }
}

/// The texts about slots.
enum SlotText {
    static func line(_ result: SlotGet.Result, of slot: String, participle: String) -> String {
        result.task.map { "\(participle): #\($0.id)" } ?? empty(slot)
    }

    static func empty(_ slot: String) -> String { "nothing is in \(SafeText.sanitised(slot))" }
}
