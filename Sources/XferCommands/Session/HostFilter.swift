import XferModel
import XferProtocol

extension FilterOptions {
    /// The filter for the daemon. It compares hosts with their ports, so a host without one becomes that host at each
    /// port that a task has.
    func filter(_ daemon: DaemonSession) throws(CommandFailure) -> TaskFilter? {
        guard var filter else { return nil }
        let names = Set(host.filter(TaskSearch.hasNoPort).map { $0.lowercased() })
        guard !names.isEmpty else { return filter }
        var params = TaskList.Params()
        filter.host = nil
        params.filter = filter == TaskFilter() ? nil : filter
        params.fields = TaskColumns(["url"])
        params.limit = TaskPages.largest
        var hosts: Set<String> = []
        repeat {
            let page = try daemon.call(TaskList.self, params).value
            for task in page.tasks {
                let host = TaskSearch.host(of: task.url ?? "").lowercased()
                if names.contains(TaskSearch.name(ofHost: host)) { hosts.insert(host) }
            }
            params.cursor = page.nextCursor
        } while params.cursor != nil
        let all = host + hosts.subtracting(host).sorted()
        guard all.count <= Self.mostHosts else {
            throw .usage("--host: the hosts have \(all.count) ports, expected at most \(Self.mostHosts); give ports")
        }
        filter.host = OneOrMany(all)
        return filter
    }

    /// The highest number of hosts in a filter of the daemon's.
    private static let mostHosts = 1000
}
