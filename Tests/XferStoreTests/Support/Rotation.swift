import XferModel

@testable import XferStore

extension StoreReader {
    /// Hosts in the order of their turns, of tasks in all groups.
    func nextHosts(priority: Priority, limit: Int) throws -> [String] {
        var found: [String] = []
        while found.count < limit,
            let lane = try queue.nextLane(priority: priority, without: LaneExclusions(hosts: Set(found)))
        {
            found.append(lane.host)
        }
        return found
    }

    /// The next task of a host, of those in no group.
    func head(priority: Priority, host: String, order: QueueOrder) throws -> TaskID? {
        try queue.heads(of: QueueLane(priority: priority, host: host), order: order, limit: 1).first
    }
}
