import ArgumentParser
import StrictJSON
import XferModel
import XferProtocol

/// `xferctl group`: the `group.*` methods.
struct GroupCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "group", abstract: "Show, pause and limit groups of tasks.",
        discussion: """
            `xferctl add --group NAME` puts a task into a group of yours; every user has groups of their own, and an \
            operator chooses another user's with --owner. A group can be set up before it has tasks. `xferctl list --group \
            NAME` and the other verbs' --group select its tasks.
            """,
        subcommands: [List.self, Show.self, Set.self, Pause.self, Resume.self, Remove.self],
        defaultSubcommand: List.self)

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list",
            abstract: "List groups: yours, or every user's for an operator.")

        @OptionGroup var pages: PageOptions
        @OptionGroup var options: VerbOptions

        func run() throws {
            let daemon = try options.open()
            try pages.show(GroupList.self, options, of: daemon) { groups, terminal in
                let figures = try MemberFigures.each(of: groups, members: MemberFigures.members) {
                    group throws(CommandFailure) in try MemberFigures.read(of: group, daemon)
                }
                return GroupText(style: terminal.style).table(groups, figures, terminal)
            }
        }
    }

    struct Show: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "show",
            abstract: "Show a group's limit and counts.", aliases: ["get"])

        @OptionGroup var group: GroupArguments
        @OptionGroup var options: VerbOptions

        func run() throws {
            let daemon = try options.open()
            let answer = try group.find(daemon)
            let figures = options.output.json ? nil : try MemberFigures.read(of: answer.value.group, daemon)
            options.show(answer) { result, terminal in
                GroupText(style: terminal.style).lines(result.group, figures)
            }
        }
    }

    struct Set: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "set",
            abstract: "Set a group's limits.", discussion: "The limits also apply after a restart. For operators.")

        @OptionGroup var group: GroupArguments

        @Option(count: "Highest number of its transfers at once, or `default` for no limit.")
        var maxActive: LimitArgument<Int>?

        @Option(rate: "Bytes per second its transfers may receive together, such as 2M, or `default`.")
        var recv: RateArgument?

        @Option(rate: "Bytes per second its transfers may send together, such as 512K, or `default`.")
        var send: RateArgument?

        @OptionGroup var options: ActionOptions

        func validate() throws {
            guard maxActive != nil || recv != nil || send != nil else {
                throw ValidationError("Give at least one of --max-active, --recv and --send.")
            }
        }

        func run() throws {
            var params = GroupSet.Params()
            params.name = group.name
            params.owner = group.owner
            params.maxActive = maxActive?.patch ?? .unchanged
            params.maxReceiveRate = recv?.patch ?? .unchanged
            params.maxSendRate = send?.patch ?? .unchanged
            options.show(try options.open().call(GroupSet.self, params)) { result, terminal in
                GroupText(style: terminal.style).lines(result.group)
            }
        }
    }

    struct Pause: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "pause",
            abstract: "Pause the group; running transfers continue.",
            discussion: "Applies until `xferctl group resume`, also after restarts and to tasks added later.",
            aliases: ["stop"])

        @OptionGroup var group: GroupArguments

        @Flag(help: "Also return running tasks to the queue; they keep their bytes.")
        var running = false

        @Flag(help: "Pause the group before it has tasks.")
        var create = false

        @OptionGroup var options: ActionOptions

        func run() throws {
            let daemon = try options.open()
            let wasPaused = create ? false : try group.find(daemon, orElse: "--create sets it up").value.group.paused
            let params = GroupPause.Params(name: group.name, owner: group.owner, running: running)
            let answer = try daemon.call(GroupPause.self, params)
            options.show(answer) { result, terminal in
                wasPaused && !running
                    ? ["nothing paused: the group \(SafeText.sanitised(group.name)) is paused already"]
                    : GroupText(style: terminal.style).lines(result.group)
            }
        }
    }

    struct Resume: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "resume",
            abstract: "Resume the group.", aliases: ["start"])

        @OptionGroup var group: GroupArguments
        @OptionGroup var options: ActionOptions

        func run() throws {
            let daemon = try options.open()
            let found = try group.find(daemon).value.group
            let params = GroupGet.Params(name: group.name, owner: group.owner)
            options.show(try daemon.call(GroupResume.self, params)) { result, terminal in
                found.paused
                    ? GroupText(style: terminal.style).lines(result.group)
                    : ["nothing resumed: the group \(SafeText.sanitised(group.name)) is not paused"]
            }
        }
    }

    struct Remove: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "remove",
            abstract: "Remove the settings of a group; its tasks stay.", discussion: "For operators.")

        @OptionGroup var group: GroupArguments
        @OptionGroup var options: ActionOptions

        func run() throws {
            let daemon = try options.open()
            let answer = try daemon.call(
                GroupRemove.self, GroupGet.Params(name: group.name, owner: group.owner))
            guard answer.value.removed else {
                throw CommandFailure(.refused, try GroupNames(daemon).unknown(group.name))
            }
            options.show(answer) { _, _ in ["removed \(SafeText.sanitised(group.name))"] }
        }
    }
}

/// Arguments that select a group.
struct GroupArguments: ParsableArguments {
    @Argument(help: "The group's name.", completion: .daemon(.groups))
    var name: String

    @Option(
        help: ArgumentHelp(
            "Owner of the group, for operators (default: you): a name of this machine, or a uid.",
            valueName: "user"), transform: OwnerArgument.argument)
    var owner: Owner?

    /// The present group.
    ///
    /// - Parameter alternative: advice about a group that does not exist.
    func find(
        _ daemon: DaemonSession, orElse alternative: String? = nil
    ) throws(CommandFailure) -> DaemonSession.Answer<GroupGet.Result> {
        switch try daemon.attempt(GroupGet.self, GroupGet.Params(name: name, owner: owner)) {
        case .success(let found): return found
        case .failure(let refusal) where refusal.knownCode == .notFound:
            let text = try GroupNames(daemon).unknown(name)
            throw CommandFailure(.refused, alternative.map { "\(text); \($0)" } ?? text)
        case .failure(let refusal): throw CommandFailure(refusal)
        }
    }
}

/// The texts about groups.
struct GroupText: Sendable {
    let style: Style

    func lines(_ group: GroupRecord, _ figures: MemberFigures? = nil) -> [String] {
        [
            entry("group", SafeText.sanitised(group.name)), entry("owner", "\(group.owner)"),
            entry("state", QueueText.paused(group.paused)),
            entry("max active", group.maxActive.map { "\($0)" } ?? "no limit of its own"),
        ] + (group.maxReceiveRate.map { [entry("max receive", ByteText.limit($0))] } ?? [])
            + (group.maxSendRate.map { [entry("max send", ByteText.limit($0))] } ?? [])
            + (group.batch.map { [entry("batch", "\($0)")] } ?? [])
            + [entry("tasks", QueueText(style: style).counts(group.counts))]
            + (figures?.lines ?? []).map { entry($0.name, $0.text) }
    }

    /// The table of groups.
    ///
    /// - Parameter figures: the figures of each group, in order.
    func table(_ groups: [GroupRecord], _ figures: [MemberFigures?], _ terminal: Terminal) -> [String] {
        let states = [
            Table.Column(title: "GROUP", isFlexible: true), Table.Column(title: "OWNER", alignment: .right),
            Table.Column(title: "STATE"), Table.Column(title: "MAX", alignment: .right),
            Table.Column(title: "UNFINISHED", alignment: .right), Table.Column(title: "FAILED", alignment: .right),
        ]
        var table = Table(columns: states + MemberFigures.columns)
        table.rows = zip(groups, figures).map { group, figures in
            let states = [
                Table.Cell(group.name), Table.Cell("\(group.owner)"), Table.Cell(group.paused ? "paused" : "open"),
                Table.Cell(group.maxActive.map { "\($0)" } ?? "-"), Table.Cell("\(group.counts.unfinished)"),
                Table.Cell("\(group.counts.failed)"),
            ]
            return states + MemberFigures.cells(figures)
        }
        return table.lines(on: terminal, orElse: "no groups")
    }

    private func entry(_ name: String, _ text: String) -> String { style(.bold, TextWidth.padded(name, to: 13)) + text }
}
