import XferModel

/// Deadlines by key: at most one instant per key, changed and removed exactly, so that no stale deadline wakes the
/// loop. A binary heap that knows the place of each key.
struct DeadlineHeap<Key: Hashable> {
    private var entries: [(instant: MonotonicInstant, key: Key)] = []
    private var positions: [Key: Int] = [:]

    /// The earliest instant, nil when there is none.
    var earliest: MonotonicInstant? { entries.first?.instant }

    var count: Int { entries.count }

    /// Sets or moves the key's instant; nil removes it.
    mutating func set(_ key: Key, to instant: MonotonicInstant?) {
        guard let instant else { return remove(key) }
        guard let position = positions[key] else {
            entries.append((instant, key))
            positions[key] = entries.count - 1
            return siftUp(entries.count - 1)
        }
        entries[position].instant = instant
        siftUp(position)
        siftDown(positions[key] ?? position)
    }

    /// Sets the key's instant unless an earlier one is set: the owner of the key recomputes it then.
    mutating func setIfEarlier(_ key: Key, to instant: MonotonicInstant?) {
        guard let instant else { return }
        if let position = positions[key], entries[position].instant <= instant { return }
        set(key, to: instant)
    }

    /// Removes and returns the key whose instant is the earliest, if that is not after `now`.
    mutating func popDue(_ now: MonotonicInstant) -> Key? {
        guard let first = entries.first, first.instant <= now else { return nil }
        remove(first.key)
        return first.key
    }

    mutating func remove(_ key: Key) {
        guard let position = positions.removeValue(forKey: key) else { return }
        let last = entries.removeLast()
        guard position < entries.count else { return }
        entries[position] = last
        positions[last.key] = position
        siftUp(position)
        siftDown(positions[last.key] ?? position)
    }

    private mutating func siftUp(_ start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            guard entries[child].instant < entries[parent].instant else { return }
            exchange(child, parent)
            child = parent
        }
    }

    private mutating func siftDown(_ start: Int) {
        var parent = start
        while true {
            var least = parent
            for child in [2 * parent + 1, 2 * parent + 2]
            where child < entries.count && entries[child].instant < entries[least].instant {
                least = child
            }
            guard least != parent else { return }
            exchange(parent, least)
            parent = least
        }
    }

    private mutating func exchange(_ left: Int, _ right: Int) {
        entries.swapAt(left, right)
        positions[entries[left].key] = left
        positions[entries[right].key] = right
    }
}
