import Testing
import XferModel
import XferTestSupport

@testable import XferStore

/// Queued tasks in the order in which they start.
struct QueueListTests {
    private static func pages(
        _ reader: StoreReader, _ filter: TaskQuery = TaskQuery(), _ order: QueueOrder = .fifo, limit: Int
    ) throws -> [TaskID] {
        var (found, cursor): ([TaskID], String?) = ([], nil)
        repeat {
            let page = try reader.queue.list(filter, order: order, limit: limit, cursor: cursor)
            #expect(page.tasks.count <= limit && (page.nextCursor == nil || page.tasks.count == limit))
            found += page.tasks.map(\.id)
            cursor = page.nextCursor
        } while cursor != nil
        return found
    }

    @Test(arguments: QueueOrder.allCases, [1, 2, 7, 100])
    func queuedTasksAreListedLaneByLaneAsTheyStart(order: QueueOrder, limit: Int) async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                for host in ["b", "a", "c"] { try transaction.add(3, to: host) }
                try transaction.queue.move(TaskID(6), to: .top, order: order)
                try transaction.queue.move(TaskID(7), to: .bottom, order: order)
                try transaction.setState(.paused, of: TaskID(2))
                let lanes = try transaction.nextHosts(priority: .normal, limit: 9)
                try #require(lanes == ["a", "b", "c"], "a move to the top makes the host the next one")
                let expected = try lanes.flatMap {
                    try transaction.queue.heads(of: QueueLane(priority: .normal, host: $0), order: order, limit: 9)
                }
                try #require(expected.count == 8)
                #expect(try Self.pages(transaction, TaskQuery(), order, limit: limit) == expected)
            }
        }
    }

    @Test func higherPrioritiesComeFirst() async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                for (host, priority) in [("a", Priority.low), ("b", .high), ("c", .normal), ("d", .high)] {
                    try transaction.add(1, to: host, priority: priority)
                }
                #expect(try Self.pages(transaction, limit: 1).map(\.rawValue) == [2, 4, 3, 1])
            }
        }
    }

    @Test func filtersHoldInTheOrderOfTheQueue() async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                try transaction.add(3, to: "a")
                try transaction.add(3, to: "b")
                #expect(
                    try Self.pages(transaction, TaskQuery(hosts: [HostSelector("b")]), limit: 2).map(\.rawValue) == [
                        4, 5, 6,
                    ])
                #expect(try Self.pages(transaction, TaskQuery(ids: [5, 1].map { TaskID($0) }), limit: 1).count == 2)
                #expect(try Self.pages(transaction, TaskQuery(states: [.paused]), limit: 9).isEmpty)
                #expect(try Self.pages(transaction, TaskQuery(groups: []), limit: 9).isEmpty)
            }
        }
    }

    private static let origins: [(HTTPURL.Scheme, UInt16)] = [(.https, 443), (.http, 80), (.http, 443), (.http, 8080)]

    @Test func aHostWithoutAPortHasALaneForEachPort() async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                for (scheme, port) in Self.origins {
                    var task = specification()
                    task.request.url = HTTPURL(scheme: scheme, host: "a", port: port, target: "/")
                    _ = try transaction.tasks.insert(task, state: .queued, at: noon)
                }
                try transaction.add(1, to: "aa")
                func found(_ hosts: String...) throws -> [Int64] {
                    let query = TaskQuery(hosts: hosts.map { HostSelector($0) })
                    return try Self.pages(transaction, query, limit: 1).map(\.rawValue).sorted()
                }
                #expect(try found("A") == [1, 2, 3, 4])
                #expect(try found("a:443") == [1, 3] && found("a:80") == [2])
                #expect(try found("a:8080", "aa") == [4, 5])
            }
        }
    }

    @Test(arguments: QueueOrder.allCases, [1, 2, 3, 7, 30])
    func aQueueThatIsReadInShortPagesIsTheSame(order: QueueOrder, scan: Int) async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                for (host, priority) in [("b", Priority.normal), ("a", .high), ("c", .normal), ("d", .low)] {
                    try transaction.add(4, to: host, priority: priority)
                }
                for filter in [
                    TaskQuery(), TaskQuery(hosts: ["c", "d"].map { HostSelector($0) }),
                    TaskQuery(ids: [3, 14].map { TaskID($0) }),
                    TaskQuery(groups: ["none"]), TaskQuery(owners: [Owner(uid: 999)]), TaskQuery(labels: ["none"]),
                ] {
                    let whole = try transaction.queue.list(filter, order: order, limit: 100)
                    #expect(whole.nextCursor == nil)
                    var (found, cursor, pages): ([TaskID], String?, Int) = ([], nil, 0)
                    repeat {
                        let page = try transaction.queue.list(
                            filter, order: order, within: PageBounds(limit: 5, scan: scan), cursor: cursor)
                        found += page.tasks.map(\.id)
                        cursor = page.nextCursor
                        pages += 1
                    } while cursor != nil && pages < 200
                    #expect(found == whole.tasks.map(\.id), "\(filter)")
                }
            }
        }
    }

    /// A page inspects as many lanes and rows as its bound says, whatever the filter admits.
    @Test func aPageWithoutAMatchEndsAtItsBound() async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                try transaction.add(4, to: "a")
                func page(_ filter: TaskQuery, scan: Int, after cursor: String? = nil) throws -> TaskPage {
                    try transaction.queue.list(
                        filter, order: .fifo, within: PageBounds(limit: 9, scan: scan), cursor: cursor)
                }
                let none = TaskQuery(labels: ["none"])
                // The lane and its four tasks.
                #expect(try page(none, scan: 6).nextCursor == nil)
                for scan in [4, 5] {
                    let first = try page(none, scan: scan)
                    let cursor = try #require(first.nextCursor, "\(scan)")
                    #expect(first.tasks.isEmpty)
                    #expect(try page(none, scan: scan, after: cursor).nextCursor == nil)
                }
                // Lanes of other hosts count, too.
                for host in ["b", "c", "d"] { try transaction.add(1, to: host) }
                let other = TaskQuery(hosts: [HostSelector("z")])
                #expect(try page(other, scan: 5).nextCursor == nil)
                #expect(try page(other, scan: 3).nextCursor != nil)
            }
        }
    }

    @Test func aCursorStaysValidWhenTheTaskBeforeItStarts() async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                try transaction.add(5, to: "a")
                let cursor = try transaction.queue.list(TaskQuery(), order: .fifo, limit: 2).nextCursor
                try transaction.setState(.running, of: TaskID(2))
                try transaction.tasks.delete(TaskID(1))
                let rest = try transaction.queue.list(TaskQuery(), order: .fifo, limit: 9, cursor: cursor)
                #expect(rest.tasks.map(\.id.rawValue) == [3, 4, 5])
                for (filter, order) in [(TaskQuery(hosts: [HostSelector("a")]), QueueOrder.fifo), (TaskQuery(), .lifo)]
                {
                    #expect(throws: StoreError.invalidCursor) {
                        try transaction.queue.list(filter, order: order, limit: 9, cursor: cursor)
                    }
                }
                for nonsense in ["", ".", "1.2.3.4", "1.2.3.4.5", "zz zz", (cursor ?? "") + "0"] {
                    #expect(throws: StoreError.invalidCursor) {
                        try transaction.queue.list(TaskQuery(), order: .fifo, limit: 9, cursor: nonsense)
                    }
                }
            }
        }
    }
}
