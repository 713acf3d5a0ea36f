import XferCore
import XferModel

extension FleetModel {
    private func leased(_ matches: (Lane) -> Bool) -> Int {
        tasks.values.reduce(0) { $0 + ($1.state == .leased && matches($1.lane) ? 1 : 0) }
    }

    /// How many more tasks all limits allow for a lane.
    private func room(_ lane: Lane) -> Int {
        var room = Int.max
        if let limit = hostLimits[lane.host] { room = min(room, limit - leased { $0.host == lane.host }) }
        if let limit = ownerLimits[lane.owner] { room = min(room, limit - leased { $0.owner == lane.owner }) }
        if let group = lane.group.map({ Group(owner: lane.owner, name: $0) }) {
            if pausedGroups.contains(group) { return 0 }
            if let limit = groupLimits[group] {
                room = min(room, limit - leased { $0.owner == lane.owner && $0.group == lane.group })
            }
        }
        return room
    }

    /// Queued tasks that the node could take if there were no limits, by priority and rank.
    private func candidates(_ node: String) -> [Task] {
        guard let row = nodes[node], !row.isDown, !row.isDraining else { return [] }
        let places = Set(FleetPlace.served(byNode: node, labels: row.labels, storages: row.storages))
        return sorted.filter {
            $0.state == .queued && places.contains($0.lane.place) && !$0.declined.contains(node)
        }.sorted { ($1.lane.priority, $0.rank) < ($0.lane.priority, $1.rank) }
    }

    /// The first task that the node may claim.
    func nextClaimable(_ node: String) -> Task? { candidates(node).first { room($0.lane) > 0 } }

    mutating func lease(_ id: Int64, to node: String, _ claim: String) {
        tasks[id]?.state = .leased
        tasks[id]?.node = node
        tasks[id]?.claim = claim
    }

    /// Applies what a claim has given, and says what is wrong with it.
    mutating func accept(_ claimed: [(id: Int64, claim: String)], by node: String, want: Int, lanes: Int) -> [String] {
        var wrong: [String] = []
        let open = candidates(node)
        let chosen = Set(claimed.map(\.id))
        var taken: Set<Lane> = []
        for id in chosen.sorted() {
            guard let task = open.first(where: { $0.id == id }) else {
                wrong.append("task \(id) was not for \(node)")
                continue
            }
            taken.insert(task.lane)
            if let earlier = open.first(where: {
                $0.lane == task.lane && $0.rank < task.rank && !chosen.contains($0.id)
            }) {
                wrong.append("task \(id) was claimed before \(earlier.id) of its lane")
            }
        }
        if chosen.count != claimed.count { wrong.append("a task was claimed twice") }
        if claimed.count > want { wrong.append("\(claimed.count) were claimed, \(want) wanted") }
        let lowest = claimed.compactMap { tasks[$0.id]?.lane.priority }.min()
        for (id, claim) in claimed { lease(id, to: node, claim) }
        for lane in taken where room(lane) < 0 { wrong.append("a limit is exceeded for \(lane)") }
        // A claim may stop at its number of lanes; else it takes all it may.
        if taken.count < lanes, let left = nextClaimable(node) {
            if claimed.count < want { wrong.append("task \(left.id) was left") }
            if let lowest, left.lane.priority > lowest { wrong.append("task \(left.id) has a higher priority") }
        }
        return wrong
    }
}
