import XferModel

/// How the number of queued tasks per host and of tasks per state changed: gathered while a group is executed and written
/// once, so that adding 10,000 tasks for one host changes its row once.
struct QueueChanges {
    struct HostKey: Hashable {
        let priority: Priority
        let host: String
    }
    struct CountKey: Hashable {
        let owner: Owner
        let group: String?
        let state: TaskState
    }

    private(set) var hosts = Differences<HostKey>()
    private(set) var counts = Differences<CountKey>()

    var isEmpty: Bool { hosts.isEmpty && counts.isEmpty }

    /// A task came to be as `place` says (`by` 1), or is no longer so (−1).
    mutating func count(_ place: QueuePlace, by amount: Int64) {
        counts.add(amount, to: CountKey(owner: place.owner, group: place.group, state: place.state))
        guard place.state == .queued else { return }
        hosts.add(amount, to: HostKey(priority: place.priority, host: place.host))
    }

    mutating func merge(_ other: QueueChanges) {
        hosts.merge(other.hosts)
        counts.merge(other.counts)
    }
}

/// What of a task decides where it is counted.
struct QueuePlace: Hashable {
    var owner: Owner
    var group: String?
    var state: TaskState
    var priority: Priority
    var host: String
}

/// Sums by key, in the order in which the keys came first: new hosts join the rotation in that order.
struct Differences<Key: Hashable> {
    private var indices: [Key: Int] = [:]
    private(set) var entries: [(key: Key, amount: Int64)] = []

    var isEmpty: Bool { entries.isEmpty }

    mutating func add(_ amount: Int64, to key: Key) {
        if let index = indices[key] {
            entries[index].amount += amount
        } else {
            indices[key] = entries.count
            entries.append((key, amount))
        }
    }

    mutating func merge(_ other: Differences) {
        for (key, amount) in other.entries { add(amount, to: key) }
    }
}
