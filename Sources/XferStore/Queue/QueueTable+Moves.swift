public import XferModel

extension QueueTable where Store == StoreTransaction {
    /// Changes the task's rank among the queued tasks of its lane; returns the new rank.
    ///
    /// Ranks of tasks that were never moved are 2^20 apart, so that a move writes one row. Neighbours get new ranks
    /// only when the gap is used up.
    /// - Throws: `noSuchTask`; `otherLane` when the task in `position` is of another host, group, profile or priority.
    @discardableResult
    public func move(_ id: TaskID, to position: MovePosition, order: QueueOrder) throws(StoreError) -> Int64 {
        let lane = try lane(of: id)
        if position == .top { try makeNext(lane) }
        guard let gap = try gap(for: id, position, order, lane) else { return try rank(of: id) }
        return try place(id, in: gap, lane)
    }

    // MARK: Finding the gap

    private func gap(
        for id: TaskID, _ position: MovePosition, _ order: QueueOrder, _ lane: HostKey
    ) throws(StoreError) -> RankGap? {
        // A task that starts earlier has the lower rank under fifo and the higher one under lifo.
        switch position {
        case .top: return order == .fifo ? try lowest(of: lane, but: id) : try highest(of: lane, but: id)
        case .bottom: return order == .fifo ? try highest(of: lane, but: id) : try lowest(of: lane, but: id)
        case .before(let other), .after(let other):
            guard other != id else { return nil }
            guard try self.lane(of: other) == lane else { throw StoreError.otherLane(other) }
            let entry = RankedTask(id: other, rank: try rank(of: other))
            if case .before = position { return order == .fifo ? .below(entry) : .above(entry) }
            return order == .fifo ? .above(entry) : .below(entry)
        }
    }

    private func lowest(of lane: HostKey, but id: TaskID) throws(StoreError) -> RankGap? {
        try entries(of: lane, above: RankedTask(id: TaskID(0), rank: .min), but: id, limit: 1).first.map(RankGap.below)
    }

    private func highest(of lane: HostKey, but id: TaskID) throws(StoreError) -> RankGap? {
        try entries(of: lane, below: RankedTask(id: TaskID(0), rank: .max), but: id, limit: 1).first.map(RankGap.above)
    }

    // MARK: Filling the gap

    /// Moves more and more neighbours until there are enough ranks for them and the task.
    private func place(_ id: TaskID, in gap: RankGap, _ lane: HostKey) throws(StoreError) -> Int64 {
        var reach = 1
        while true {
            let (lows, highs) = try neighbours(of: gap, lane, but: id, reach)
            let (floor, movedLows) = bound(lows, reach)
            let (ceiling, movedHighs) = bound(highs, reach)
            let moved: [TaskID] = movedLows.reversed().map(\.id) + [id] + movedHighs.map(\.id)
            // A task that is added later gets a higher rank than all before; below the lowest there is no bound.
            let top: Int64 = if let ceiling { ceiling } else { try wall() }
            let lowest = min(top, lows.last?.rank ?? top)
            let bottom =
                floor ?? (lowest.subtractingSaturated(Self.spacing.multipliedSaturated(by: Int64(moved.count) + 1)))
            let step = top.subtractingSaturated(bottom) / (Int64(moved.count) + 1)
            if step >= (reach == 1 ? 1 : 1024) {
                for (index, id) in moved.enumerated() {
                    try setRank(
                        bottom.addingSaturated(step.multipliedSaturated(by: Int64(clamping: index) + 1)), of: id)
                }
                return try rank(of: id)
            }
            reach *= 8
            // No queue has that many neighbours: a damaged row's rank leaves no room at all.
            guard reach < 1 << 40 else {
                throw StoreError.unreadable(table: "task", id: id.rawValue, column: "moved_rank")
            }
        }
    }

    /// Returns up to `reach` entries on both sides of the gap, nearest first.
    private func neighbours(
        of gap: RankGap, _ lane: HostKey, but id: TaskID, _ reach: Int
    ) throws(StoreError) -> (lows: [RankedTask], highs: [RankedTask]) {
        switch gap {
        case .below(let entry):
            let lows = try entries(of: lane, below: entry, but: id, limit: reach)
            let others = try entries(of: lane, above: entry, but: id, limit: reach - 1)
            return (lows, [entry] + others)
        case .above(let entry):
            let highs = try entries(of: lane, above: entry, but: id, limit: reach)
            let others = try entries(of: lane, below: entry, but: id, limit: reach - 1)
            return ([entry] + others, highs)
        }
    }

    /// Returns the rank of the farthest of `reach` entries, which stays and bounds the others; nil when there were
    /// fewer.
    private func bound(_ entries: [RankedTask], _ reach: Int) -> (rank: Int64?, moved: [RankedTask]) {
        entries.count < reach ? (nil, entries) : (entries[reach - 1].rank, Array(entries.dropLast()))
    }

    // MARK: Rows

    private static var spacing: Int64 { 1 << 20 }

    /// The rank of the next task that will be added.
    private func wall() throws(StoreError) -> Int64 {
        (try store.tasks.lastID()?.rawValue ?? 0).addingSaturated(1).multipliedSaturated(by: Self.spacing)
    }

    private func lane(of id: TaskID) throws(StoreError) -> HostKey {
        let found = try connection.first(
            "SELECT priority, group_id, profile, host FROM task WHERE id = ?1", Value(id)
        ) {
            HostKey(
                line: LineKey(
                    priority: Priority(rawValue: Int(clamping: $0.integer(0))) ?? .normal, group: $0.integer(1),
                    profile: $0.optionalText(2) ?? ""),
                host: $0.text(3))
        }
        guard let found else { throw .noSuchTask(id) }
        return found
    }

    private func rank(of id: TaskID) throws(StoreError) -> Int64 {
        guard let rank = try connection.first("SELECT rank FROM task WHERE id = ?1", Value(id), read: { $0.integer(0) })
        else { throw .noSuchTask(id) }
        return rank
    }

    private func setRank(_ rank: Int64, of id: TaskID) throws(StoreError) {
        try connection.run("UPDATE task SET moved_rank = ?2 WHERE id = ?1", Value(id), .integer(rank))
    }

    private func entries(
        of lane: HostKey, below entry: RankedTask, but id: TaskID, limit: Int
    ) throws(StoreError) -> [RankedTask] {
        // Taken once: the optimiser of 6.3.1 crashes over a tuple's members as arguments.
        let (priority, group, profile) = lane.line.values
        return try connection.all(
            """
            SELECT id, rank FROM task INDEXED BY task_queue
            WHERE state = 'queued' AND priority = ?1 AND group_id = ?2 AND profile IS nullif(?3, '') AND host = ?4
                AND (rank, id) < (?5, ?6) AND id <> ?7
            ORDER BY rank DESC, id DESC LIMIT ?8
            """,
            priority, group, profile, .text(lane.host), .integer(entry.rank), Value(entry.id), Value(id), Value(limit)
        ) { RankedTask(id: TaskID($0.integer(0)), rank: $0.integer(1)) }
    }

    private func entries(
        of lane: HostKey, above entry: RankedTask, but id: TaskID, limit: Int
    ) throws(StoreError) -> [RankedTask] {
        // Taken once: the optimiser of 6.3.1 crashes over a tuple's members as arguments.
        let (priority, group, profile) = lane.line.values
        return try connection.all(
            """
            SELECT id, rank FROM task INDEXED BY task_queue
            WHERE state = 'queued' AND priority = ?1 AND group_id = ?2 AND profile IS nullif(?3, '') AND host = ?4
                AND (rank, id) > (?5, ?6) AND id <> ?7
            ORDER BY rank, id LIMIT ?8
            """,
            priority, group, profile, .text(lane.host), .integer(entry.rank), Value(entry.id), Value(id), Value(limit)
        ) { RankedTask(id: TaskID($0.integer(0)), rank: $0.integer(1)) }
    }
}

/// A queued task of a lane.
private struct RankedTask: Hashable {
    let id: TaskID
    let rank: Int64
}

/// The place next to an entry, on one side of it.
private enum RankGap {
    case below(RankedTask)
    case above(RankedTask)
}
