import ArgumentParser
import StrictJSON
import XferModel
import XferProtocol

/// `xferctl update`: changes one task with `task.update`.
struct UpdateCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "update", abstract: "Change an unfinished task.",
        discussion: """
            Priority, group, label, meta, retries, rates, metered links, progress interval and when it may run can be \
            changed at any time, the rest only while the task is not running (pause it first).
            """)

    @Argument(help: ArgumentHelp("Id of the task.", valueName: "id"))
    var id: TaskIDArgument

    @Option(help: ArgumentHelp("Higher starts first.", valueName: "level"))
    var priority: WordArgument<Priority>?

    @Option(help: ArgumentHelp("Put it into this group.", valueName: "name"))
    var group: String?

    @Option(help: ArgumentHelp("Give it this label.", valueName: "text"))
    var label: String?

    @Option(help: ArgumentHelp("Small JSON of your own.", valueName: "json"), transform: JSONValue.argument)
    var meta: JSONValue?

    @OptionGroup var limits: LimitOptions

    @OptionGroup var times: TimeOptions

    @Option(
        help: ArgumentHelp(
            "Start when this task has completed, instead of those it waits for; may be repeated.", valueName: "id"))
    var after: [TaskIDArgument] = []

    @Option(help: ArgumentHelp("A trust policy that has to accept besides the host's own.", valueName: "name"))
    var policy: String?

    @Flag(
        inversion: .prefixedNo,
        help: "Send a POST or PATCH again that failed after it was sent.")
    var retryNonIdempotent: Bool?

    @OptionGroup var conditions: ConditionOptions

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("Write to this file.", valueName: "file"), completion: .file())
    var output: String?

    @Option(
        name: [.customShort("d"), .customLong("dir")],
        help: ArgumentHelp("Write into this directory.", valueName: "dir"), completion: .directory)
    var directory: String?

    @Option(help: ArgumentHelp("What to do when the name is taken.", valueName: "policy"))
    var onConflict: WordArgument<ConflictPolicy>?

    @Option(
        help: ArgumentHelp("Refuse the file unless it has this digest.", valueName: "digest"),
        transform: Checksum.argument)
    var checksum: Checksum?

    @Option(
        help: ArgumentHelp("Fetch so many parts at the same time, 1 to 16, or auto.", valueName: "count"))
    var segments: SegmentsArgument?

    @Option(
        name: [.customShort("H"), .customLong("header")],
        help: ArgumentHelp("Send these headers instead of those it has.", valueName: "name: value"))
    var headers: [HeaderArgument] = []

    @OptionGroup var timeouts: TimeoutOptions

    @Option(help: ArgumentHelp("Unset this field; may be repeated.", valueName: "field"))
    var clear: [ClearableField] = []

    @OptionGroup var options: VerbOptions

    /// Fields that can be unset.
    enum ClearableField: String, CaseIterable, ExpressibleByArgument {
        case group, label, meta, maxRetries = "max-retries", output, checksum, segments, credential, policy
        case notBefore = "not-before", window, deadline, after
    }

    func run() throws {
        let params = TaskUpdate.Params(id: id.id, changes: try changes())
        options.show(try options.open().call(TaskUpdate.self, params)) { result, terminal in
            TaskDetails(style: terminal.style, now: .now).lines(result.task)
        }
    }

    func changes(paths: PathResolver? = .current()) throws(CommandFailure) -> TaskChanges {
        var changes = TaskChanges()
        changes.priority = priority?.word
        changes.group = patch(group, .group)
        changes.label = patch(label, .label)
        changes.meta = patch(meta, .meta)
        limits.apply(to: &changes.limits)
        if clear.contains(.maxRetries), !changes.limits.maxRetries.isChange { changes.limits.maxRetries = .clear }
        changes.schedule.notBefore = patch(times.notBefore?.time, .notBefore)
        changes.schedule.window = patch(times.window?.record.window, .window)
        changes.schedule.deadline = patch(times.deadline?.time, .deadline)
        changes.after = patch(after.isEmpty ? nil : after.map(\.id), .after)
        changes.policy = patch(policy, .policy)
        changes.limits.retriesNonIdempotent = Patch(retryNonIdempotent)
        conditions.apply(to: &changes.choices)
        timeouts.apply(to: &changes.choices)
        changes.destination.onConflict = Patch(onConflict?.word)
        changes.checksum = patch(checksum, .checksum)
        changes.limits.segments = patch(segments?.count, .segments)
        changes.access.credential = clear.contains(.credential) ? .clear : .unchanged
        let headers = try headers.fields()
        if !headers.isEmpty { changes.headers = HeaderList(headers) }
        guard let paths else { throw .usage("the current directory is gone; change to another one") }
        let destination = try paths.destination(directory: directory, output: output)
        changes.dir = destination.dir
        changes.output = patch(destination.output, .output)
        guard changes != TaskChanges() else { throw .usage("nothing to change; see `xferctl update --help`") }
        return changes
    }

    private func patch<Value>(_ value: Value?, _ field: ClearableField) -> Patch<Value> {
        if let value { return .set(value) }
        return clear.contains(field) ? .clear : .unchanged
    }
}
