public import XferModel

extension StoreReader {
    /// One page ordered by id. The cursor is opaque and bound to filter and order; a task that matches throughout appears
    /// exactly once over all pages.
    public func list(
        _ filter: TaskQuery, ascending: Bool = false, limit: Int, cursor: String? = nil
    ) throws(StoreError) -> TaskPage {
        var last: TaskID?
        if let cursor { last = TaskID(try ListCursor(cursor, of: filter.words(ascending: ascending)).last) }
        let bounds = ascending ? (last, nil) : (nil, last)
        // One more than asked for, to know whether there is another page.
        let ids = try pageOfIDs(filter, above: bounds.0, below: bounds.1, ascending: ascending, limit: limit + 1)
        var page = try page(of: Array(ids.prefix(limit)))
        if ids.count > limit, let last = ids.prefix(limit).last {
            page.nextCursor = ListCursor(last: last.rawValue, of: filter.words(ascending: ascending)).text
        }
        return page
    }

    /// These tasks, without a cursor. An unreadable row does not prevent listing the others.
    func page(of ids: [TaskID]) throws(StoreError) -> TaskPage {
        var page = TaskPage(tasks: [])
        for id in ids {
            do throws(StoreError) {
                if let task = try task(id) { page.tasks.append(task) }
            } catch .unreadable {
                page.unreadable.append(id)
            }
        }
        return page
    }

    /// Ids of matching tasks above `after` and up to `upTo`, ascending; verbs use it to process a filter in chunks.
    public func ids(
        matching filter: TaskQuery, after: TaskID? = nil, upTo: TaskID, limit: Int
    ) throws(StoreError) -> [TaskID] {
        try pageOfIDs(
            filter, above: after, below: TaskID(min(upTo.rawValue, .max - 1) + 1), ascending: true, limit: limit)
    }

    // MARK: The query

    /// Walks the index of the restriction with the fewest rows, in the order of ids; where several values are allowed,
    /// their walks are merged. It never sorts and stops at the limit.
    private func pageOfIDs(
        _ filter: TaskQuery, above: TaskID?, below: TaskID?, ascending: Bool, limit: Int
    ) throws(StoreError) -> [TaskID] {
        let restrictions = filter.restrictions
        guard restrictions.allSatisfy({ !$0.allowed.isEmpty }), limit > 0 else { return [] }
        let leader = try leader(of: restrictions, filter)
        var values: [Value] = [
            .integer(above?.rawValue ?? .min), .integer(below?.rawValue ?? .max), Value(limit),
        ]
        func parameter(_ value: Value) -> String {
            values.append(value)
            return "?\(values.count)"
        }
        var conditions = "id > ?1 AND id < ?2"
        for restriction in restrictions where restriction.dimension != leader?.dimension {
            let list = parameter(.text(restriction.list))
            // The plus keeps SQLite from choosing another index.
            conditions += " AND +\(restriction.dimension.column) IN (SELECT value FROM json_each(\(list)))"
        }
        let order = "ORDER BY id \(ascending ? "ASC" : "DESC") LIMIT ?3"
        let sql: String
        switch leader {
        case .some(let leader) where leader.dimension == .id:
            let list = parameter(.text(leader.list))
            sql = "SELECT id FROM task WHERE id IN (SELECT value FROM json_each(\(list))) AND \(conditions) \(order)"
        case .some(let leader):
            let index = leader.dimension.index ?? ""
            let walks = leader.allowed.map {
                """
                SELECT id FROM task INDEXED BY \(index)
                WHERE \(leader.dimension.column) = \(parameter($0)) AND \(conditions)
                """
            }
            sql = walks.joined(separator: " UNION ALL ") + " " + order
        case nil:
            sql = "SELECT id FROM task NOT INDEXED WHERE \(conditions) \(order)"
        }
        return try connection.all(composed: sql, values) { TaskID($0.integer(0)) }
    }

    /// The restriction whose index is walked: ids, else the one with the fewest tasks, as far as that is known without
    /// a query. A restriction with more values than SQLite merges well is not used.
    private func leader(of restrictions: [Restriction], _ filter: TaskQuery) throws(StoreError) -> Restriction? {
        var best: (restriction: Restriction, size: Int64)?
        for restriction in restrictions {
            if restriction.dimension == .id { return restriction }
            guard restriction.dimension.index != nil, restriction.allowed.count <= 100 else { continue }
            let size = try size(of: restriction, filter)
            if size < best?.size ?? .max { best = (restriction, size) }
        }
        return best?.restriction
    }

    private func size(of restriction: Restriction, _ filter: TaskQuery) throws(StoreError) -> Int64 {
        let total = try counts().values.saturatedSum
        switch restriction.dimension {
        case .state:
            let counts = try counts()
            return (filter.states ?? []).compactMap { counts[$0] }.saturatedSum
        case .group:
            var sum: Int64 = 0
            for group in filter.groups ?? [] { sum = sum.addingSaturated(try counts(group: group).values.saturatedSum) }
            return sum
        case .owner:
            var sum: Int64 = 0
            for owner in filter.owners ?? [] { sum = sum.addingSaturated(try counts(owner: owner).values.saturatedSum) }
            return sum
        case .host: return total / 10
        case .label, .slot: return total / 100
        case .id, .kind: return total
        }
    }
}

extension TaskQuery {
    /// The columns it restricts, each with the values it allows, without repetitions and in a fixed order.
    var restrictions: [Restriction] {
        var found: [Restriction] = []
        func restrict<T: Hashable>(_ dimension: Restriction.Dimension, _ allowed: [T]?, _ value: (T) -> Value) {
            guard let allowed else { return }
            found.append(Restriction(dimension: dimension, allowed: Set(allowed.map(value))))
        }
        restrict(.id, ids, { Value($0) })
        restrict(.label, labels, { .text($0) })
        restrict(.slot, slots, { .text($0) })
        restrict(.group, groups, { .text($0) })
        restrict(.host, hosts, { .text($0) })
        restrict(.state, states, { Value($0) })
        restrict(.owner, owners, { Value($0) })
        restrict(.kind, kinds, { Value($0) })
        return found
    }

    /// Words that identify this filter in this order, for cursors.
    func words(ascending: Bool) -> [String] {
        [ascending ? "asc" : "desc"] + restrictions.flatMap { [$0.dimension.rawValue, $0.list] }
    }
}

/// One column and the values it may have.
struct Restriction {
    enum Dimension: String {
        case id, label, slot, group, host, state, owner, kind

        var column: String { self == .group ? "group_name" : rawValue }
        /// The index in which the tasks with one value lie in the order of their ids.
        var index: String? { self == .id || self == .kind ? nil : "task_\(rawValue)" }
    }

    let dimension: Dimension
    let allowed: Set<Value>

    /// The allowed values in a fixed order, as JSON.
    var list: String {
        let integers = allowed.compactMap { if case .integer(let value) = $0 { value } else { nil } }.sorted()
        let texts = allowed.compactMap { if case .text(let value) = $0 { value } else { nil } }.sorted()
        return texts.isEmpty ? JSONText.array(integers) : JSONText.array(texts)
    }
}
