public import XferModel

extension TaskTable {
    /// Returns one page ordered by id. The cursor is opaque and bound to filter and order; a task that matches
    /// throughout appears exactly once over all pages. A page that its bounds end early has fewer tasks than the limit,
    /// and a cursor.
    public func list(
        _ filter: TaskQuery, ascending: Bool = false, limit: Int, cursor: String? = nil
    ) throws(StoreError) -> TaskPage {
        try list(filter, ascending: ascending, within: PageBounds(limit: limit), cursor: cursor)
    }

    public func list(
        _ filter: TaskQuery, ascending: Bool = false, within bounds: PageBounds, cursor: String? = nil
    ) throws(StoreError) -> TaskPage {
        let words = filter.words(ascending: ascending)
        var last: TaskID?
        if let cursor { last = TaskID(try ListCursor(cursor, of: words).last) }
        let (above, below) = ascending ? (last, nil) : (nil, last)
        // One more than requested, to know whether there is another page.
        let walk = try pageOfIDs(
            filter, above: above, below: below, ascending: ascending, limit: bounds.limit.addingSaturated(1),
            scan: bounds.scan)
        let ids = Array(walk.ids.prefix(bounds.limit))
        let binding = ListCursor.binding(words)
        var page = try page(of: ids, bytes: bounds.bytes) { ListCursor(last: $0.rawValue, binding: binding).text }
        if page.places.count < ids.count || walk.ids.count > bounds.limit {
            page.nextCursor = page.places.last?.cursor
        } else if let reached = walk.reached {
            page.nextCursor = ListCursor(last: reached.rawValue, binding: binding).text
        }
        return page
    }

    /// The first of these tasks, as many as `bytes` allow, at least one. An unreadable row does not prevent listing the
    /// others.
    func page(
        of ids: [TaskID], bytes: Int, cursor: (TaskID) throws(StoreError) -> String
    ) throws(StoreError) -> TaskPage {
        var page = TaskPage(tasks: [])
        var left = bytes
        for id in ids {
            if left <= 0 { break }
            do throws(StoreError) {
                if let task = try find(id) {
                    page.tasks.append(task)
                    left = left.subtractingSaturated(task.variableBytes)
                }
            } catch .unreadable {
                page.unreadable.append(id)
            }
            page.places.append(TaskPage.Place(id: id, cursor: try cursor(id)))
        }
        return page
    }

    /// Ids of matching tasks above `after` and up to `upTo`, ascending; verbs use it to process a filter in chunks.
    public func ids(
        matching filter: TaskQuery, after: TaskID? = nil, upTo: TaskID, limit: Int
    ) throws(StoreError) -> [TaskID] {
        var (found, after): ([TaskID], TaskID?) = ([], after)
        while found.count < limit {
            let walk = try idPage(matching: filter, after: after, upTo: upTo, limit: limit - found.count)
            found += walk.ids
            guard let reached = walk.reached else { break }
            after = reached
        }
        return found
    }

    /// The page of `ids` that ends when `scan` rows were inspected.
    public func idPage(
        matching filter: TaskQuery, after: TaskID? = nil, upTo: TaskID, limit: Int,
        scan: Int = PageBounds.usualScan
    ) throws(StoreError) -> TaskIDPage {
        var page = try pageOfIDs(
            filter, above: after, below: TaskID(min(upTo.rawValue, .max - 1) + 1), ascending: true, limit: limit,
            scan: scan)
        if page.ids.count >= limit { page.reached = page.ids.last }
        return page
    }

    /// The numbers of the matching tasks by state, if they are stored: that is so for a filter that has only states and
    /// owners.
    public func keptCounts(matching filter: TaskQuery) throws(StoreError) -> [TaskState: Int64]? {
        var rest = filter
        (rest.states, rest.owners) = (nil, nil)
        guard rest == TaskQuery() else { return nil }
        var counts: [TaskState: Int64] = [:]
        if let owners = filter.owners {
            for owner in Set(owners) {
                counts.merge(try store.counts.byState(owner: owner)) { $0.addingSaturated($1) }
            }
        } else {
            counts = try store.counts.byState()
        }
        guard let states = filter.states.map(Set.init) else { return counts }
        return counts.filter { states.contains($0.key) }
    }

    /// The numbers of the next matching tasks by state, and the task after which counting continues; nil at the end.
    ///
    /// - Parameter scan: the highest number of rows that are inspected.
    public func countPage(
        matching filter: TaskQuery, after: TaskID? = nil, upTo: TaskID, scan: Int = PageBounds.usualScan
    ) throws(StoreError) -> (counts: [TaskState: Int64], reached: TaskID?) {
        let page = try idPage(matching: filter, after: after, upTo: upTo, limit: scan, scan: scan)
        guard !page.ids.isEmpty else { return ([:], page.reached) }
        let rows = try connection.all(
            """
            SELECT state, count(*) FROM task WHERE id IN (SELECT value FROM json_each(?1)) GROUP BY state
            """, .text(JSONText.array(page.ids.map(\.rawValue)))
        ) { row throws(StoreError) in
            (try row.word(TaskState.self, 0, table: "task", id: 0, name: "state"), row.amount(1))
        }
        return (Dictionary(rows) { $0.addingSaturated($1) }, page.reached)
    }

    // MARK: The query

    /// The columns that a filter restricts, with the keys that its hosts have now.
    func restrictions(of filter: TaskQuery) throws(StoreError) -> [Restriction] {
        filter.restrictions(hostKeys: try filter.hosts.map { hosts throws(StoreError) in try keys(of: hosts) })
    }

    /// The keys of these hosts in the column `host` (`HTTPURL.hostKey`). A host without a port has one for each port
    /// that a task has; they are found with as many steps in the index.
    private func keys(of hosts: [HostSelector]) throws(StoreError) -> [String] {
        var keys: [String] = []
        for host in Set(hosts) {
            if host.port == nil || host.scheme != nil { keys.append(host.name) }
            guard host.port == nil else {
                keys.append(host.description)
                continue
            }
            // A semicolon follows the colon in ASCII.
            keys += try connection.all(
                """
                WITH RECURSIVE key (host) AS (
                    SELECT (
                        SELECT t.host FROM task t INDEXED BY task_host
                        WHERE t.host > ?1 AND t.host < ?2 ORDER BY t.host LIMIT 1)
                    UNION ALL
                    SELECT (
                        SELECT t.host FROM task t INDEXED BY task_host
                        WHERE t.host > key.host AND t.host < ?2 ORDER BY t.host LIMIT 1)
                    FROM key WHERE key.host IS NOT NULL)
                SELECT host FROM key WHERE host IS NOT NULL
                """, .text("\(host.name):"), .text("\(host.name);")
            ) { $0.text(0) }
        }
        return keys
    }

    /// Walks the index of the restriction with the fewest rows, in the order of ids; where several values are allowed,
    /// their walks are merged. It never sorts and stops at the limit, or after `scan` rows of which the other
    /// restrictions may admit none.
    private func pageOfIDs(
        _ filter: TaskQuery, above: TaskID?, below: TaskID?, ascending: Bool, limit: Int, scan: Int
    ) throws(StoreError) -> TaskIDPage {
        let restrictions = try restrictions(of: filter)
        guard restrictions.allSatisfy({ !$0.allowed.isEmpty }), limit > 0 else { return TaskIDPage(ids: []) }
        let leader = try leader(of: restrictions, filter)
        var values: [Value] = [
            .integer(above?.rawValue ?? .min), .integer(below?.rawValue ?? .max), Value(limit),
        ]
        func parameter(_ value: Value) -> String {
            values.append(value)
            return "?\(values.count)"
        }
        let others = restrictions.filter { $0.dimension != leader?.dimension }
        let bounds = filter.bounds
        let order = ascending ? "ASC" : "DESC"
        /// The walk in the order of ids, of rows that also fulfil these conditions.
        func walk(_ conditions: String) -> String {
            let range = "id > ?1 AND id < ?2\(conditions)"
            switch leader {
            case .some(let leader) where leader.dimension == .id:
                let list = parameter(.text(leader.list))
                let among = "id IN (SELECT value FROM json_each(\(list)))"
                return "SELECT id FROM task WHERE \(among) AND \(range) ORDER BY id \(order)"
            case .some(let leader):
                let walks = leader.allowed.map {
                    """
                    SELECT id FROM task INDEXED BY \(leader.dimension.index ?? "")
                    WHERE \(leader.dimension.column) = \(parameter($0)) AND \(range)
                    """
                }
                return walks.joined(separator: " UNION ALL ") + " ORDER BY id \(order)"
            case nil:
                return "SELECT id FROM task NOT INDEXED WHERE \(range) ORDER BY id \(order)"
            }
        }
        var reached: TaskID?
        if !others.isEmpty || !bounds.isEmpty, leader?.dimension != .id {
            let before = values
            values[2] = Value(max(0, scan - 1))
            let sql = walk("") + " LIMIT 1 OFFSET ?3"
            reached = try connection.all(composed: sql, values) { TaskID($0.integer(0)) }.first
            values = before
            if let reached {
                // The row that was reached belongs to this page.
                if ascending {
                    values[1] = .integer(reached.rawValue.addingSaturated(1))
                } else {
                    values[0] = .integer(reached.rawValue.subtractingSaturated(1))
                }
            }
        }
        var conditions = others.map { restriction in
            let list = parameter(.text(restriction.list))
            // The plus keeps SQLite from choosing another index.
            return " AND +\(restriction.dimension.column) IN (SELECT value FROM json_each(\(list)))"
        }
        conditions += bounds.map { " AND " + $0.sql(parameter($0.value)) }
        let sql = walk(conditions.joined()) + " LIMIT ?3"
        return TaskIDPage(ids: try connection.all(composed: sql, values) { TaskID($0.integer(0)) }, reached: reached)
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
        let total = try store.counts.byState().values.saturatedSum
        switch restriction.dimension {
        case .state:
            let counts = try store.counts.byState()
            return (filter.states ?? []).compactMap { counts[$0] }.saturatedSum
        case .group:
            var sum: Int64 = 0
            for group in filter.groups ?? [] {
                sum = sum.addingSaturated(try store.counts.byState(group: group).values.saturatedSum)
            }
            return sum
        case .owner:
            var sum: Int64 = 0
            for owner in filter.owners ?? [] {
                sum = sum.addingSaturated(try store.counts.byState(owner: owner).values.saturatedSum)
            }
            return sum
        case .host: return total / 10
        case .label, .slot, .batch: return total / 100
        case .id, .kind, .clientKey, .reason: return total
        }
    }
}

/// Ids of a walk.
public struct TaskIDPage: Hashable, Sendable {
    public var ids: [TaskID]
    /// The task after which the walk continues, if a bound ended it; nil at its end.
    public var reached: TaskID?
}

extension TransferTask {
    /// The bytes of its texts and lists that may be long: most of its memory.
    public var variableBytes: Int {
        var bytes = 1024 + (specification.meta?.utf8.count ?? 0)
        func add(_ url: HTTPURL) { bytes += url.target.utf8.count + url.host.utf8.count + 64 }
        add(specification.request.url)
        for url in specification.mirrors { add(url) }
        for field in specification.request.headers { bytes += field.name.utf8.count + field.value.utf8.count + 32 }
        for field in outcome.responseHeaders { bytes += field.name.utf8.count + field.value.utf8.count + 32 }
        return bytes
    }
}

extension TaskQuery {
    /// The columns it restricts, each with the values it allows, without repetitions and in a fixed order.
    ///
    /// - Parameter hostKeys: the values of the column of hosts.
    func restrictions(hostKeys: [String]?) -> [Restriction] {
        var found: [Restriction] = []
        func restrict<T: Hashable>(_ dimension: Restriction.Dimension, _ allowed: [T]?, _ value: (T) -> Value) {
            guard let allowed else { return }
            found.append(Restriction(dimension: dimension, allowed: Set(allowed.map(value))))
        }
        restrict(.id, ids, { Value($0) })
        restrict(.label, labels, { .text($0) })
        restrict(.slot, slots, { .text($0) })
        restrict(.group, groups, { .text($0) })
        restrict(.batch, batches, { .integer($0.rawValue) })
        restrict(.host, hostKeys, { .text($0) })
        restrict(.state, states, { Value($0) })
        restrict(.owner, owners, { Value($0) })
        restrict(.kind, kinds, { Value($0) })
        restrict(.clientKey, clientKeys, { .text($0) })
        restrict(.reason, reasons, { .text($0.rawValue) })
        return found
    }

    /// The columns that it bounds.
    var bounds: [ColumnBound] {
        var found: [ColumnBound] = []
        func add(_ column: String, _ range: TaskQuery.TimeRange) {
            if let from = range.from { found.append(ColumnBound("\(column) >= @", Value(from))) }
            if let before = range.before { found.append(ColumnBound("\(column) < @", Value(before))) }
        }
        add("created_at", created)
        add("finished_at", finished)
        for (host, scheme) in hostsOfOneScheme {
            let beginning = "\(scheme.rawValue):"
            found.append(
                ColumnBound("(host <> @ OR substr(url, 1, \(beginning.count)) = '\(beginning)')", .text(host)))
        }
        if let urlPrefix { found.append(ColumnBound("substr(url, 1, length(@)) = @", .text(urlPrefix))) }
        return found
    }

    /// The hosts, sorted, whose tasks without a port in the URL match only with this scheme.
    private var hostsOfOneScheme: [(host: String, scheme: HTTPURL.Scheme)] {
        let all = Set(hosts ?? [])
        return all.filter { host in
            // Without a port, or with both schemes' ports, every scheme matches.
            host.scheme != nil
                && !all.contains { $0.name == host.name && $0 != host && ($0.port == nil || $0.scheme != nil) }
        }.compactMap { host in host.scheme.map { (host: host.name, scheme: $0) } }.sorted { $0.host < $1.host }
    }

    /// The text that identifies this filter, for cursors.
    var words: [String] {
        restrictions(hostKeys: hosts?.map(\.description)).flatMap { [$0.dimension.rawValue, $0.list] }
            + bounds.flatMap { [$0.condition, "\($0.value)"] }
    }

    /// Texts that identify this filter in this order, for cursors.
    func words(ascending: Bool) -> [String] { [ascending ? "asc" : "desc"] + words }
}

/// A condition with one value.
struct ColumnBound {
    /// SQL with `@` for the value.
    let condition: String
    let value: Value

    init(_ condition: String, _ value: Value) {
        self.condition = condition
        self.value = value
    }

    func sql(_ parameter: String) -> String { condition.replacing("@", with: parameter) }
}

/// One column and the values it may have.
struct Restriction {
    enum Dimension: String {
        case id, label, slot, group, batch, host, state, owner, kind, clientKey, reason

        var column: String {
            switch self {
            case .group: "group_name"
            case .batch: "batch_id"
            case .clientKey: "client_key"
            case .reason: "error_reason"
            default: rawValue
            }
        }
        /// The index in which the tasks with one value are in the order of their ids.
        var index: String? {
            switch self {
            case .id, .kind, .clientKey, .reason: nil
            default: "task_\(rawValue)"
            }
        }
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
