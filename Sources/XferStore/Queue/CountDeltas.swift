import XferModel

/// The key of `group_queue`: the queued tasks of one priority, group and profile.
struct LineKey: Hashable {
    let priority: Priority
    /// The id of the group's row.
    let group: Int64
    /// The profile; empty for tasks without one.
    let profile: String

    /// The values for statements: priority, group, profile.
    var values: (Value, Value, Value) { (.integer(Int64(priority.rawValue)), .integer(group), .text(profile)) }
}

/// The key of `host_queue`: a lane.
struct HostKey: Hashable {
    let line: LineKey
    let host: String
}

/// The key of `task_count`.
struct CountKey: Hashable {
    let owner: Owner
    let group: String?
    let state: TaskState
}

/// The key of `batch_count`.
struct BatchKey: Hashable {
    let batch: BatchID
    let state: TaskState
}

/// The fields of a task that decide where it is counted.
struct QueuePlace: Hashable {
    var owner: Owner
    var group: String?
    var state: TaskState
    var priority: Priority
    var host: String
    /// The id of the group's row.
    var groupID: Int64
    var profile: String?
    var batch: BatchID?

    var lane: HostKey {
        HostKey(line: LineKey(priority: priority, group: groupID, profile: profile ?? ""), host: host)
    }
}

/// Deltas that are gathered while a group of change-sets is executed and written once, so that adding 10,000 tasks for
/// one host changes its row once. They are written earlier when a query reads the table.
struct GatheredCountDeltas<Key: Hashable> {
    /// The changes of completed change-sets of this group.
    private var earlier = CountDeltas<Key>()
    /// The changes of the change-set that is being executed.
    var current = CountDeltas<Key>()
    /// The value of `earlier` before the change-set, if it was written within the change-set's savepoint.
    private var writtenWithin: CountDeltas<Key>?

    /// Removes and returns everything that has to be written now.
    mutating func removeAll() -> [(key: Key, amount: Int64)] {
        guard !earlier.isEmpty || !current.isEmpty else { return [] }
        let before = earlier
        earlier.merge(current)
        defer {
            writtenWithin = writtenWithin ?? before
            earlier = CountDeltas()
            current = CountDeltas()
        }
        return earlier.entries
    }

    /// Keeps the deltas of a change-set that has succeeded.
    mutating func keep() {
        earlier.merge(current)
        current = CountDeltas()
        writtenWithin = nil
    }

    /// The change-set's savepoint was rolled back.
    mutating func undo() {
        current = CountDeltas()
        if let writtenWithin { earlier = writtenWithin }
        writtenWithin = nil
    }
}

/// Sums by key, in the order in which the keys appeared: new hosts join the rotation in that order.
struct CountDeltas<Key: Hashable> {
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

    mutating func merge(_ other: CountDeltas) {
        guard !isEmpty else {
            self = other
            return
        }
        for (key, amount) in other.entries { add(amount, to: key) }
    }
}
