import ArgumentParser
import StrictJSON
import XferClient
import XferModel
import XferProtocol

/// Values of arguments that only the daemon, or the protocol, knows.
enum DaemonValues: String, CaseIterable {
    case tasks, groups, labels, slots, hosts, profiles, policies, hooks, batches
    case cacheEntries = "cache-entries"
    case failedURLs = "failed-urls"
    /// Names of RPC methods.
    case methods
    /// Names of a task's fields, with commas between.
    case fields
    /// Names of columns of `xferctl list`, with commas between.
    case columns

    /// The mark of such an argument in the dump of the verbs. ArgumentParser's own scripts would run it as a command.
    var mark: String { "xferctl complete values \(rawValue)" }

    init?(mark: String) {
        guard let values = Self.allCases.first(where: { $0.mark == mark }) else { return nil }
        self = values
    }

    /// True if the values are numbers, which people can tell apart only by their description.
    var areNumbers: Bool {
        switch self {
        case .tasks, .batches, .cacheEntries, .failedURLs: true
        default: false
        }
    }

    /// True if an argument contains several values with commas between.
    var isList: Bool {
        switch self {
        case .tasks, .fields, .columns: true
        default: false
        }
    }
}

extension CompletionKind {
    /// Values that `xferctl complete` reads from the daemon.
    static func daemon(_ values: DaemonValues) -> CompletionKind { .shellCommand(values.mark) }
}

/// Reads values from the daemon. If a daemon is absent, slow or refuses, there are none: a completion prints no error.
struct DaemonValueSource {
    /// The daemon that the command line names.
    let instance: SocketLocator.Instance

    /// The highest number of offered values.
    static let most = 200
    /// The longest wait for the daemon: after it a person would think that the shell hangs.
    private static let patience = Duration.milliseconds(1000)
    /// The number of newest tasks that are searched for labels, slots and hosts.
    private static let recentTasks = 1000

    /// Reads the words for a kind of value from the daemon.
    ///
    /// - Parameter states: tasks in other states are left out; nil is all.
    func words(_ values: DaemonValues, states: Set<TaskState>?) -> [Completion.Word] {
        let found: [Completion.Word]
        switch values {
        case .methods:
            found = MethodRegistry.all.map {
                Completion.Word(text: $0.name, meaning: Self.firstSentence(of: $0.summary))
            }
        case .fields: found = TaskRecord.wireFields.map { Completion.Word(text: $0.name, meaning: $0.documentation) }
        case .columns: found = TaskColumn.allCases.map { Completion.Word(text: $0.rawValue, meaning: $0.meaning) }
        default: found = (try? daemonWords(values, states)) ?? []
        }
        // A name with a line break or an escape sequence cannot be put on the command line, and is no other name.
        return found.filter { !$0.text.isEmpty && SafeText.sanitised($0.text) == $0.text }
            .map { Completion.Word(text: $0.text, meaning: Self.line($0.meaning)) }
    }

    private func daemonWords(_ values: DaemonValues, _ states: Set<TaskState>?) throws -> [Completion.Word] {
        let connection = try SocketLocator.ofThisProcess()
            .connect(to: instance, timeout: Self.patience, waitsForStart: false).connection
        func call<Method: RPCMethod>(
            _ method: Method.Type, _ params: Method.Params
        ) throws(CallError) -> Method.Result {
            try connection.call(method, params, timeout: Self.patience)
        }
        switch values {
        case .tasks:
            return try call(TaskList.self, Self.page(of: states, TaskSummary.columns, Self.most)).tasks.map {
                let task = TaskSummary($0)
                return Completion.Word(text: "\(task.id)", meaning: "\(task.state): \(task.name)")
            }
        case .labels: return try Self.distinct(call(TaskList.self, Self.recent("label")).tasks.map(\.label))
        case .slots: return try Self.distinct(call(TaskList.self, Self.recent("slot")).tasks.map(\.slot))
        case .hosts:
            return try Self.distinct(
                call(TaskList.self, Self.recent("url")).tasks.map { $0.url.flatMap(Self.host(of:)) })
        case .groups:
            return try call(GroupList.self, Self.groups).groups.map {
                let counts = QueueText(style: .plain).counts($0.counts)
                return Completion.Word(text: $0.name, meaning: ($0.paused ? "paused, " : "") + "tasks: \(counts)")
            }
        case .batches:
            return try call(GroupList.self, Self.groups).groups.compactMap { group in
                group.batch.map { Completion.Word(text: "\($0)", meaning: "group \(group.name)") }
            }
        case .profiles:
            return try call(ProfileList.self, NamedPageParams()).profiles.map {
                Completion.Word(text: $0.name, meaning: $0.baseURL ?? "")
            }
        case .policies:
            return try call(PolicyList.self, NamedPageParams()).policies.map {
                Completion.Word(text: $0.name, meaning: $0.hosts.joined(separator: " "))
            }
        case .hooks:
            return try call(HookList.self, NamedPageParams()).hooks.map {
                Completion.Word(text: $0.name, meaning: $0.argv.joined(separator: " "))
            }
        case .cacheEntries:
            var params = CacheList.Params()
            params.limit = Self.most
            return try call(CacheList.self, params).entries.map { Completion.Word(text: "\($0.id)", meaning: $0.url) }
        case .failedURLs:
            var params = FailedURLList.Params()
            params.limit = Self.most
            return try call(FailedURLList.self, params).entries.map {
                Completion.Word(text: "\($0.id)", meaning: $0.url)
            }
        case .methods, .fields, .columns: return []
        }
    }

    private static func page(
        of states: Set<TaskState>?, _ columns: TaskColumns?, _ limit: Int
    ) -> TaskList.Params {
        var params = TaskList.Params()
        if let states, states.count < TaskState.allCases.count {
            params.filter = TaskFilter()
            params.filter?.state = OneOrMany(TaskState.allCases.filter { states.contains($0) })
        }
        params.fields = columns
        params.limit = limit
        return params
    }

    private static func recent(_ field: String) -> TaskList.Params { page(of: nil, TaskColumns([field]), recentTasks) }

    private static var groups: GroupList.Params {
        var params = GroupList.Params()
        params.limit = TaskPages.largest
        return params
    }

    private static func distinct(_ texts: [String?]) -> [Completion.Word] {
        var seen: Set<String> = []
        return texts.compactMap(\.self).filter { seen.insert($0).inserted }
            .map { Completion.Word(text: $0, meaning: "") }
    }

    /// The host with its port, as filters take it.
    private static func host(of url: String) -> String? {
        guard let scheme = url.firstRange(of: "://") else { return nil }
        let authority = url[scheme.upperBound...].prefix { $0 != "/" && $0 != "?" && $0 != "#" }
        return String(authority.lastIndex(of: "@").map { authority[authority.index(after: $0)...] } ?? authority)
    }

    private static func firstSentence(of text: String) -> String {
        text.firstRange(of: ". ").map { String(text[..<$0.lowerBound]) } ?? text
    }

    /// The text as one line that fits beside the word.
    private static func line(_ text: String) -> String {
        TextWidth.fitted(SafeText.sanitised(text), to: 72)
    }
}
