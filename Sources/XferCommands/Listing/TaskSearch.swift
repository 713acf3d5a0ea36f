import XferModel
import XferProtocol

/// A search among tasks by criteria that the daemon has no filters for: words, times, hosts without a port.
struct TaskSearch {
    /// Ids in the arguments.
    private let ids: [TaskIDsArgument]
    /// The searched words in lower case; all have to be in a task's name, label, group or URL.
    private let words: [String]
    private let since: Timestamp?
    /// The hosts to match, with any port.
    private let hosts: [String]

    /// The fields that `matches` reads.
    static let fields = ["label", "group", "output", "url", "final_path", "created_at", "finished_at", "state"]

    init(words: [String], since: PastTimeArgument?, hosts: [String]) {
        ids = words.compactMap { TaskIDsArgument(argument: $0) }
        self.words = words.filter { TaskIDsArgument(argument: $0) == nil }.map { $0.lowercased() }
        self.since = since?.time
        self.hosts = hosts.contains(where: Self.hasNoPort) ? hosts.map { $0.lowercased() } : []
    }

    /// True if tasks have to be looked through here.
    var filtersLocally: Bool { !words.isEmpty || since != nil || !hosts.isEmpty }

    /// The part that the daemon filters by; nil is everything.
    func filter(_ options: TaskFilter?, _ daemon: DaemonSession) throws(CommandFailure) -> TaskFilter? {
        var filter = options ?? TaskFilter()
        if !hosts.isEmpty { filter.host = nil }
        if !ids.isEmpty { filter.ids = OneOrMany(try SelectionOptions.named(ids, daemon)) }
        return filter == TaskFilter() ? nil : filter
    }

    func matches(_ task: TaskRecord) -> Bool {
        if let since {
            // What has not ended yet counts by its addition.
            guard [task.createdAt, task.finishedAt].contains(where: { $0.map { $0 >= since } ?? false }) else {
                return false
            }
        }
        if !hosts.isEmpty {
            let host = Self.host(of: task.url ?? "").lowercased()
            guard hosts.contains(host) || hosts.contains(Self.name(ofHost: host)) else { return false }
        }
        let texts = [
            TaskSummary.fileName(of: task), task.label ?? "", task.group ?? "", task.url ?? "", task.finalPath ?? "",
        ].map { $0.lowercased() }
        return words.allSatisfy { word in texts.contains { $0.contains(word) } }
    }

    /// `example.org:8080` of a URL, without user info.
    static func host(of url: String) -> String {
        guard let scheme = url.firstRange(of: "://") else { return "" }
        let authority = url[scheme.upperBound...].prefix { !"/?#".contains($0) }
        return String(authority.split(separator: "@").last ?? authority)
    }

    /// The decoded path of a URL, without its first slash.
    static func path(of url: String) -> String {
        guard let scheme = url.firstRange(of: "://") else { return url }
        let rest = url[scheme.upperBound...].prefix { !"?#".contains($0) }
        guard let slash = rest.firstIndex(of: "/") else { return "" }
        return TaskSummary.percentDecoded(rest[rest.index(after: slash)...])
    }

    /// The host without its port.
    static func name(ofHost host: String) -> String {
        hasNoPort(host) ? host : String(host[..<(host.lastIndex(of: ":") ?? host.endIndex)])
    }

    /// A colon within brackets belongs to an IPv6 address.
    static func hasNoPort(_ host: String) -> Bool {
        let tail = host.lastIndex(of: "]").map { host[$0...] } ?? host[...]
        return !tail.contains(":")
    }
}
