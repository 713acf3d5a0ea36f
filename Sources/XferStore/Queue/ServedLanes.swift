public import XferModel

/// Served lanes whose turns are not written yet.
///
/// A pass that picks tasks for brief runs writes nothing, so it costs no commit. The turns of their lanes are written
/// with the starts or the ends of the runs. Until then the lanes are treated as the last ones of the rotation, in the
/// order of this list. If xferd ends before, the tasks run again, and the lanes have their earlier turns.
struct ServedLanes {
    /// The highest number of such lanes; each reading of the rotation has to skip them.
    static let most = 64

    /// Each lane once.
    private(set) var lanes: [HostKey] = []

    mutating func append(_ lane: HostKey) {
        if let index = lanes.firstIndex(of: lane) { lanes.remove(at: index) }
        lanes.append(lane)
    }

    mutating func removeAll() -> [HostKey] {
        defer { lanes.removeAll(keepingCapacity: true) }
        return lanes
    }
}

extension QueueTable where Store == StoreTransaction {
    /// The lanes that are next, in the order in which they are served, each once; empty only if there is none.
    ///
    /// - Parameter limit: how many lanes there are at most.
    public func nextLanes(priority: Priority, limit: Int) throws(StoreError) -> [QueueLane] {
        try store.settleHosts()
        let found = try unservedLanes(priority, limit)
        if !found.isEmpty || store.served.lanes.isEmpty { return found }
        try store.settleTurns()
        return try unservedLanes(priority, limit)
    }

    private func unservedLanes(_ priority: Priority, _ limit: Int) throws(StoreError) -> [QueueLane] {
        guard let next = try lanesByTurn(priority, limit: store.served.lanes.count + limit) else { return [] }
        let present = Set(next.hosts)
        let served = store.served.lanes.lazy.filter { $0.line == next.line && present.contains($0.host) }.map(\.host)
        let passed = Set(served)
        var hosts = next.hosts.filter { !passed.contains($0) }
        // Without lanes beyond those that were read, the served ones follow.
        if next.isAlone { hosts += served }
        var lanes: [QueueLane] = []
        for host in hosts.prefix(limit) { lanes.append(try lane(of: next.line, host: host)) }
        return lanes
    }

    /// Puts the lane at the end of the rotation. Returns false if it is the only lane of its priority.
    @discardableResult
    public func markServed(_ lane: QueueLane) throws(StoreError) -> Bool {
        try store.settleHosts()
        guard let group = try store.groups.id(of: lane.group) else { return true }
        // A lane that is alone is at the end already: a lane that joins gets a later turn.
        let lanes = try connection.all(
            "SELECT 1 FROM host_queue WHERE priority = ?1 LIMIT 2", .integer(Int64(lane.priority.rawValue))
        ) { _ in true }
        guard lanes.count > 1 else { return false }
        let line = LineKey(priority: lane.priority, group: group, profile: lane.profile ?? "")
        store.served.append(HostKey(line: line, host: lane.host))
        if store.served.lanes.count >= ServedLanes.most { try store.settleTurns() }
        return true
    }

    /// Gives the lanes the next turns, in their order.
    func writeTurns(of lanes: [HostKey]) throws(StoreError) {
        for (priority, lanes) in Dictionary(grouping: lanes, by: \.line.priority) {
            let last = try nextTurn(priority, count: lanes.count)
            for (later, lane) in lanes.reversed().enumerated() {
                try setTurn(last.subtractingSaturated(Int64(clamping: later)), of: lane)
            }
        }
        for line in Set(lanes.map(\.line)) { try refreshFront(of: line) }
    }
}
