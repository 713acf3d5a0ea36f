import ArgumentParser
import XferClient
import XferModel
import XferProtocol

/// `xferctl fleet`: the `fleet.*` methods.
struct FleetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet", abstract: "Show and command a fleet of daemons.",
        discussion: """
            A fleet is one queue in PostgreSQL that many daemons work on, each with an agent xfer-fleet beside it. \
            `xferctl --fleet VERB` adds, lists and commands the tasks of that queue; these verbs are about its nodes.
            """,
        subcommands: [
            Status.self, Nodes.self, Add.self, Move.self, Drain.self, Undrain.self, Limit.self, Forget.self,
        ])

    struct Status: ParsableCommand {
        static let configuration = CommandConfiguration(commandName: "status", abstract: "Show the fleet's state.")

        @OptionGroup var options: VerbOptions

        func run() throws {
            let answer = try options.openFleet().call(FleetStatus.self)
            options.show(answer) { status, _ in FleetText.lines(status) }
        }
    }

    struct Nodes: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "nodes", abstract: "List the nodes.", aliases: ["list"])

        @OptionGroup var options: VerbOptions

        func run() throws {
            let answer = try options.openFleet().all(FleetNodes.self)
            options.show(answer) { result, terminal in
                FleetText.table(result.nodes).lines(on: terminal, orElse: "the fleet has no nodes")
            }
        }
    }

    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "add",
            abstract: "Add a download for certain nodes.",
            discussion: "`xferctl --fleet add` has all options of a task, for any node.")

        @Argument(help: "URL to download.")
        var urls: [String]

        @Option(help: ArgumentHelp("Nodes that may run it: \(FleetPlace.expected).", valueName: "place"))
        var place: String

        @Option(
            name: .shortAndLong,
            help: ArgumentHelp("Directory on the node or the shared storage, absolute.", valueName: "dir"))
        var dir: String?

        @OptionGroup var options: ActionOptions

        func run() throws {
            let tasks = urls.map { url in
                var task = NewTask(url: url)
                task.dir = dir
                return task
            }
            let params = FleetAdd.Params(place: try FleetText.place(place, option: "--place"), tasks: tasks)
            let answer = try options.openFleet().call(FleetAdd.self, params)
            options.show(answer) { result, _ in ["queued: \(SelectionText.list(result.ids))"] }
        }
    }

    struct Move: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "move",
            abstract: "Change which nodes may run tasks.",
            discussion: "Bytes that a node has received stay there; the next node fetches them again.")

        @Argument(help: "The tasks' ids.")
        var ids: [Int64]

        @Option(help: ArgumentHelp("Nodes that may run it: \(FleetPlace.expected).", valueName: "place"))
        var to: String

        @OptionGroup var options: ActionOptions

        func run() throws {
            let tasks = ids.map { TaskID($0) }
            let params = FleetMove.Params(ids: tasks, place: try FleetText.place(to, option: "--to"))
            let answer = try options.openFleet().call(FleetMove.self, params)
            options.show(answer) { result, _ in
                let changed = result.changed.isEmpty ? [] : ["moved: \(SelectionText.list(result.changed))"]
                return changed
                    + result.unchanged.map { "unchanged: #\($0.id) is \(SafeText.sanitised($0.state.description))" }
            }
            try SelectionText.refuseMissing(in: .ids(answer.value))
        }
    }

    struct Drain: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "drain",
            abstract: "Drain a node: it finishes its tasks and claims no more.",
            discussion: "When it has no tasks it may be stopped: `xferctl fleet nodes` shows it.")

        @Argument(help: "The node's name.") var node: String
        @OptionGroup var options: ActionOptions

        func run() throws {
            let answer = try options.openFleet().call(FleetDrain.self, FleetDrain.Params(node: node))
            options.show(answer) { result, _ in [FleetText.draining(result.node)] }
        }
    }

    struct Undrain: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "undrain", abstract: "Let a drained node claim tasks again.")

        @Argument(help: "The node's name.") var node: String
        @OptionGroup var options: ActionOptions

        func run() throws {
            let answer = try options.openFleet().call(FleetUndrain.self, FleetDrain.Params(node: node))
            options.show(answer) { result, _ in ["\(SafeText.sanitised(result.node.name)) takes tasks again"] }
        }
    }

    struct Limit: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "limit",
            abstract: "Limit the tasks of one host over all nodes.", discussion: "Without a number there is no limit.")

        @Argument(help: "The host as in a URL, with :port unless it is the scheme's default.") var host: String
        @Argument(help: "Highest number of tasks at a time.") var number: Int?
        @OptionGroup var options: ActionOptions

        func run() throws {
            let answer = try options.openFleet().call(
                FleetLimit.self, FleetLimit.Params(host: host, maxActive: number))
            options.show(answer) { _, _ in
                [
                    "\(SafeText.sanitised(host)): \(number.map { "at most \($0) task\($0 == 1 ? "" : "s") at a time" } ?? "no limit")"
                ]
            }
        }
    }

    struct Forget: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "forget",
            abstract: "Remove a node that is permanently lost.",
            discussion: "Without --yes it only shows the effects on its tasks.")

        @Argument(help: "The node's name.") var node: String
        @Flag(help: "Do it.") var yes = false
        @OptionGroup var options: ActionOptions

        func run() throws {
            let answer = try options.openFleet().call(
                FleetForget.self, FleetForget.Params(node: node, confirm: yes))
            // Without --yes the effects are all that it is about.
            let text = { (result: FleetForget.Result, _: Terminal) in FleetText.lines(result, node: node) }
            if yes { options.show(answer, text) } else { options.verb.show(answer, text) }
        }
    }
}

extension DaemonOptions {
    /// Connects to the fleet, unless the options specify a socket or a server.
    func openFleet() throws(CommandFailure) -> DaemonSession {
        let instance = try connection.instance()
        return try DaemonSession.open(instance == .automatic ? .fleet : instance)
    }
}
