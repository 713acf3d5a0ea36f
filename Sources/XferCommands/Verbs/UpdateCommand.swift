import ArgumentParser
import StrictJSON
import XferModel
import XferProtocol

/// `xferctl update`: changes tasks with `task.update`.
struct UpdateCommand: TaskVerb {
    static let configuration = CommandConfiguration(
        commandName: "update", abstract: "Change unfinished and failed tasks.",
        discussion: """
            Priority, group, label, meta, retries, rates, metered links, progress interval and when it may run can be \
            changed at any time, the rest only while the task is not running (pause it first). A failed task is \
            changed, then retried. If one of several tasks cannot be changed, the others are changed all the same, and the \
            exit status is 3.

            With -d, files from several directories keep their places beneath the deepest directory that all were in: \
            files of one name in two of them stay two files. Of several files, those that are in the new directory, or \
            beneath it, stay where they are.

            --group and --label select tasks. With ids, which exclude filters, they are short for --set-group and \
            --set-label.

              xferctl update 7 --limit-rate 500K
              xferctl update --group isos --priority high
              xferctl update 7 -d /srv/big -u ada && xferctl retry 7
            """)
    static let states = Set<TaskState>.unfinished.union([.failed])

    @OptionGroup var selection: SelectionOptions

    @OptionGroup var queue: QueueOptions

    @Option(help: ArgumentHelp("Put them into this group.", valueName: "name"), completion: .daemon(.groups))
    var setGroup: String?

    @Option(help: ArgumentHelp("Give them this label.", valueName: "text"), completion: .daemon(.labels))
    var setLabel: String?

    @OptionGroup var limits: LimitOptions

    @OptionGroup var times: TimeOptions

    @Flag(
        inversion: .prefixedNo,
        help: "Repeat a failed POST or PATCH, even if the server may have acted on it.")
    var retryNonIdempotent: Bool?

    @OptionGroup var conditions: ConditionOptions

    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp("Write to this file.", valueName: "file"), completion: .file())
    var output: String?

    @OptionGroup var place: DirectoryOption
    @OptionGroup var conflict: ConflictOption

    @Flag(inversion: .prefixedNo, help: "Allow a hidden path directly beneath a home directory, such as ~/.ssh.")
    var allowHidden: Bool?

    @OptionGroup var digest: ChecksumOption
    @OptionGroup var header: HeaderOption
    @OptionGroup var answers: AnswerOptions
    @OptionGroup var timeouts: TimeoutOptions
    @OptionGroup var route: RouteOptions
    @OptionGroup var trust: TrustOptions
    @OptionGroup var socket: SocketOptions
    @OptionGroup(title: "Access") var access: AccessOptions

    @Option(
        name: [.customShort("b"), .customLong("cookie")],
        help: ArgumentHelp(
            "Send the cookies in this file (cookies.txt, Netscape format) instead of the present ones; - is standard input.",
            valueName: "file"),
        completion: .file(), transform: CookieArgument.argument)
    var cookie: CookieArgument?

    @Option(help: ArgumentHelp("Unset this field; may be repeated.", valueName: "field"))
    var clear: [ClearableField] = []

    @OptionGroup var options: ActionOptions

    /// Fields that can be unset.
    enum ClearableField: String, CaseIterable, ExpressibleByArgument {
        case group, label, meta, maxRetries = "max-retries", output, checksum, segments, credential, policy
        case maxSize = "max-size"
        case notBefore = "not-before", window, deadline, after, afterBatch = "after-batch", afterGroup = "after-group"
        case clientCertificate = "cert", cookies = "cookie", proxy, interface, resolve, connectTo = "connect-to"
        case authoritiesFile = "cacert", unixSocket = "unix-socket"
    }

    mutating func validate() throws {
        // Ids leave nothing to select by a group or a label: the task's own are meant.
        if !selection.ids.isEmpty {
            setGroup = try Self.moved(&selection.filters.group, to: setGroup, "group")
            setLabel = try Self.moved(&selection.filters.label, to: setLabel, "label")
        }
        if case .value = cookie { throw ValidationError("-b NAME=VALUE: use -H 'Cookie: NAME=VALUE', or a file.") }
        try selection.check()
    }

    private static func moved(_ values: inout [String], to value: String?, _ name: String) throws -> String? {
        guard !values.isEmpty else { return value }
        guard values.count == 1, value == nil else { throw ValidationError("A task has one \(name) only.") }
        return values.removeFirst()
    }

    func run() throws {
        SecretArguments(headers: header.arguments).warn()
        let cookies = try cookieFile
        let changes = try changes(paths: .current(for: options.connection), cookies)
        let daemon = try options.open()
        let ids = try SelectedTasks(options: selection, daemon: daemon).ids(in: .unfinished)
        var updated: [TaskID] = []
        var tasks: [JSONValue] = []
        var refusals: [(id: TaskID, failure: CommandFailure)] = []
        if ids.count > 1, output != nil {
            throw CommandFailure.usage("-o is for one file, but there are \(ids.count) tasks; use -d for a directory")
        }
        var params = try params(of: ids, changes, cookies, daemon)
        // One task that is named moves wherever it is.
        if let directory = changes.dir, output == nil, ids.count > 1 || selection.ids.isEmpty {
            try Self.keepSubdirectories(beneath: directory, in: &params, daemon)
        }
        let unchanged = params.filter { $0.changes == TaskChanges() }.map(\.id)
        params.removeAll { $0.changes == TaskChanges() }
        let answers = try daemon.calls(TaskUpdate.self, params)
        var places: [(directory: String, ids: [TaskID])] = []
        var indices: [String: Int] = [:]
        for (call, answer) in zip(params, answers) {
            let id = call.id
            switch answer {
            case .success(let answer):
                updated.append(id)
                if let directory = call.changes.dir {
                    let index = indices[directory, default: places.count]
                    if index == places.count { places.append((directory, [])) }
                    indices[directory] = index
                    places[index].ids.append(id)
                }
                tasks.append(answer.raw["task"] ?? .null)
            case .failure(let refusal): refusals.append((id, CommandFailure(refusal).namingOptions()))
            }
        }
        if options.output.json {
            Output.standard.document(["tasks": .array(tasks)])
        } else if options.isQuiet {
            // Refusals are reported below.
        } else if ids.isEmpty {
            let reason = SelectionReason(selection, daemon).noMatch(in: .unfinished)
            Output.standard.line("nothing updated: \(reason)")
        } else {
            if !updated.isEmpty { Output.standard.line("updated: \(SelectionText.list(updated))") }
            for place in places where places.contains(where: { $0.directory != changes.dir }) {
                let name = SafeText.sanitised(place.directory)
                Output.standard.line("    in \(name): \(SelectionText.list(place.ids))")
            }
            if !unchanged.isEmpty, let directory = changes.dir {
                let place = SafeText.sanitised(directory)
                Output.standard.line("unchanged: \(SelectionText.list(unchanged)), in or beneath \(place) already")
            }
        }
        if ids.count == 1, let refusal = refusals.first { throw refusal.failure }
        for refusal in refusals { Output.error.line("xferctl: #\(refusal.id): \(refusal.failure.message)") }
        if !refusals.isEmpty { throw CommandFailure(.refused) }
    }

    private var cookieFile: CookieFile? {
        get throws(CommandFailure) {
            guard case .file(let path) = cookie else { return nil }
            return try CookieFile.read(path)
        }
    }

    /// The calls for these tasks. If a file has many cookies, each task gets those that may apply to it.
    private func params(
        of ids: [TaskID], _ changes: TaskChanges, _ cookies: CookieFile?, _ daemon: DaemonSession
    ) throws(CommandFailure) -> [TaskUpdate.Params] {
        var params = ids.map { TaskUpdate.Params(id: $0, changes: changes) }
        guard let cookies, cookies.cookies.count > CookieFile.mostOfAnySite else { return params }
        let answers = try daemon.calls(TaskGet.self, ids.map { TaskGet.Params(id: $0) })
        for (index, answer) in answers.enumerated() {
            // A task that is gone is refused by the change itself.
            guard case .success(let answer) = answer else { continue }
            let task = answer.value.task
            params[index].changes.access.cookieList = .set(
                cookies.records(for: task.urls ?? task.url.map { [$0] } ?? []))
        }
        return params
    }

    /// Gives each file its former place beneath the new directory: files of one name in several directories would become
    /// one file otherwise. Files that are in it, or beneath it, stay where they are.
    ///
    /// - Parameter directory: the directory for the files of the deepest directory that all were in.
    private static func keepSubdirectories(
        beneath directory: String, in params: inout [TaskUpdate.Params], _ daemon: DaemonSession
    ) throws(CommandFailure) {
        let requests = params.map { change in
            var request = TaskGet.Params(id: change.id)
            request.fields = TaskColumns(["dir"])
            return request
        }
        // A task that is gone, or has no file, is refused by the change itself.
        let former = try daemon.calls(TaskGet.self, requests).map { answer -> [Substring]? in
            guard case .success(let answer) = answer else { return nil }
            return answer.value.task.dir?.split(separator: "/")
        }
        let target = directory.split(separator: "/")
        let all = former.compactMap(\.self).filter { !$0.starts(with: target) }
        let common = all.dropFirst().reduce(all.first ?? []) { common, parts in
            zip(common, parts).prefix { $0.0 == $0.1 }.map { $0.0 }
        }
        for (index, parts) in former.enumerated() {
            guard let parts else { continue }
            guard !parts.starts(with: target) else {
                params[index].changes.dir = nil
                continue
            }
            let rest = parts.dropFirst(common.count)
            guard !rest.isEmpty else { continue }
            let base = directory.hasSuffix("/") ? String(directory.dropLast()) : directory
            params[index].changes.dir = ([base] + rest.map(String.init)).joined(separator: "/")
        }
    }

    func changes(paths: PathResolver?, _ cookies: CookieFile? = nil) throws(CommandFailure) -> TaskChanges {
        var changes = TaskChanges()
        changes.priority = queue.priority?.word
        changes.group = patch(setGroup, .group)
        changes.label = patch(setLabel, .label)
        changes.meta = patch(queue.meta, .meta)
        limits.apply(to: &changes.limits)
        changes.schedule.notBefore = patch(times.notBefore?.time, .notBefore)
        changes.schedule.window = patch(times.window?.record.window, .window)
        changes.schedule.deadline = patch(times.deadline?.time, .deadline)
        changes.after = patch(queue.targets, .after)
        changes.schedule.afterBatch = patch(queue.afterBatch, .afterBatch)
        changes.schedule.afterGroup = patch(queue.afterGroup, .afterGroup)
        changes.policy = patch(trust.policy, .policy)
        changes.limits.retriesNonIdempotent = Patch(retryNonIdempotent)
        conditions.apply(to: &changes.choices)
        timeouts.apply(to: &changes.choices)
        answers.apply(to: &changes.choices)
        changes.destination.onConflict = Patch(conflict.policy?.word)
        changes.destination.allowsHidden = Patch(allowHidden)
        changes.checksum = patch(digest.checksum, .checksum)
        let headers = try header.arguments.fields()
        if !headers.isEmpty { changes.headers = HeaderList(headers) }
        guard let paths else { throw .usage("the current directory is gone; change to another one") }
        route.apply(to: &changes.choices)
        changes.choices.authoritiesFile = patch(trust.authoritiesFile.map(paths.absolute), .authoritiesFile)
        changes.choices.unixSocket = patch(socket.unixSocket.map(paths.absolute), .unixSocket)
        changes.access = try access.choices(paths)
        if let cookies { changes.access.cookieList = .set(cookies.records(for: [])) }
        unset(in: &changes)
        let destination = try paths.destination(directory: place.directory, output: output)
        changes.dir = destination.dir
        changes.output = patch(destination.output, .output)
        guard changes != TaskChanges() else { throw .usage("nothing to change; see `xferctl update --help`") }
        return changes
    }

    /// Fields of which `--clear` alone decides unless an option gives a value.
    private func unset(in changes: inout TaskChanges) {
        func unset<Value>(_ choice: inout Patch<Value>, _ field: ClearableField, by value: Patch<Value> = .clear) {
            if clear.contains(field), !choice.isChange { choice = value }
        }
        unset(&changes.limits.maxRetries, .maxRetries)
        unset(&changes.limits.segments, .segments)
        unset(&changes.limits.maxSize, .maxSize)
        unset(&changes.access.credential, .credential)
        unset(&changes.access.clientCert, .clientCertificate)
        unset(&changes.access.cookieList, .cookies)
        unset(&changes.access.proxy, .proxy)
        unset(&changes.choices.interface, .interface)
        unset(&changes.choices.resolve, .resolve, by: .set([]))
        unset(&changes.choices.connectTo, .connectTo, by: .set([]))
    }

    private func patch<Value>(_ value: Value?, _ field: ClearableField) -> Patch<Value> {
        if let value { return .set(value) }
        return clear.contains(field) ? .clear : .unchanged
    }
}
