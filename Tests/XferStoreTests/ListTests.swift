import Testing
import XferModel
import XferTestSupport

@testable import XferStore

/// Lists, cursors and history.
struct ListTests {
    private struct Sample {
        var filter = TaskQuery()

        init(_ random: inout SplitMix64) {
            func maybe<T>(_ values: [T]) -> [T]? {
                Bool.random(using: &random) && Bool.random(using: &random)
                    ? values.filter { _ in Bool.random(using: &random) } : nil
            }
            filter.states = maybe(TaskState.allCases)
            filter.kinds = maybe(TaskKind.allCases)
            filter.groups = maybe(["x", "y", "\"z'"])
            filter.labels = maybe(["one", "two"])
            filter.owners = maybe([1, 2, 3].map { Owner(uid: $0) })
            filter.hosts = maybe(["a", "b", "c", "C:1", "c:80", "c:443", "c:", "[::1]"].map { HostSelector($0) })
            filter.ids = maybe((1...120).map { TaskID($0) })
        }
    }

    private static func matches(_ task: TransferTask, _ filter: TaskQuery) -> Bool {
        (filter.states?.contains(task.state) ?? true) && (filter.kinds?.contains(task.specification.kind) ?? true)
            && (filter.groups.map { groups in task.specification.group.map(groups.contains) ?? false } ?? true)
            && (filter.labels.map { labels in task.specification.label.map(labels.contains) ?? false } ?? true)
            && (filter.owners?.contains(task.owner) ?? true)
            && (filter.hosts?.contains { matches(task.specification.request.url, $0) } ?? true)
            && (filter.ids?.contains(task.id) ?? true)
    }

    private static func matches(_ url: HTTPURL, _ host: HostSelector) -> Bool {
        url.host == host.name && (host.port == nil || host.port == url.port)
    }

    private static func fill(_ transaction: StoreTransaction, _ random: inout SplitMix64, count: Int) throws {
        for _ in 0..<count {
            var spec = specification(["a", "b"].randomElement(using: &random) ?? "a")
            if Int.random(in: 0..<3, using: &random) == 0 {
                spec.request.url = HTTPURL(
                    scheme: HTTPURL.Scheme.allCases.randomElement(using: &random) ?? .http,
                    host: ["c", "cc", "[::1]"].randomElement(using: &random) ?? "c",
                    port: [1, 80, 443, 8080].randomElement(using: &random) ?? 1, target: "/")
            }
            spec.owner = Owner(uid: .random(in: 1...2, using: &random))
            spec.group = ["x", "y", "\"z'", nil, nil].randomElement(using: &random) ?? nil
            spec.label = ["one", nil].randomElement(using: &random) ?? nil
            let state = TaskState.allCases.randomElement(using: &random) ?? .queued
            _ = try transaction.tasks.insert(spec, state: state, at: noon)
        }
    }

    @Test(arguments: 1...8) func countsAreThoseOfTheMatchingTasksWhateverTheStep(seed: UInt64) async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                var random = SplitMix64(seed: seed)
                try Self.fill(transaction, &random, count: 100)
            }
            try await store.read { reader throws in
                var random = SplitMix64(seed: seed &+ 7)
                let all = try reader.tasks.list(TaskQuery(), ascending: true, limit: 1000).tasks
                for scan in [1, 3, 64, 1000] {
                    for _ in 0..<15 {
                        let filter = Sample(&random).filter
                        let matching = all.filter { Self.matches($0, filter) }
                        let expected = Dictionary(grouping: matching, by: \.state).mapValues { Int64($0.count) }
                        var counts: [TaskState: Int64] = [:]
                        var after: TaskID?
                        repeat {
                            let page = try reader.tasks.countPage(
                                matching: filter, after: after, upTo: TaskID(1000), scan: scan)
                            counts.merge(page.counts) { $0 + $1 }
                            after = page.reached
                        } while after != nil
                        #expect(counts == expected, "seed \(seed), step \(scan), \(filter)")
                        if let kept = try reader.tasks.keptCounts(matching: filter) {
                            #expect(kept == expected, "seed \(seed), \(filter)")
                        }
                    }
                }
                let filter = TaskQuery(states: [.paused, .failed], owners: [Owner(uid: 1), Owner(uid: 1)])
                let expected = all.filter { Self.matches($0, filter) }.count
                #expect(try reader.tasks.keptCounts(matching: filter)?.values.reduce(0, +) == Int64(expected))
                #expect(try reader.tasks.keptCounts(matching: TaskQuery(kinds: [.data])) == nil)
            }
        }
    }

    @Test(arguments: 1...8) func pagesContainExactlyTheMatchingTasks(seed: UInt64) async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                var random = SplitMix64(seed: seed)
                try Self.fill(transaction, &random, count: 100)
            }
            try await store.read { reader throws in
                var random = SplitMix64(seed: seed &+ 99)
                let all = try reader.tasks.list(TaskQuery(), ascending: true, limit: 1000).tasks
                #expect(all.count == 100)
                for _ in 0..<60 {
                    let filter = Sample(&random).filter
                    let ascending = Bool.random(using: &random)
                    let limit = Int.random(in: 1...40, using: &random)
                    let expected = all.filter { Self.matches($0, filter) }
                    var (found, cursor): ([TransferTask], String?) = ([], nil)
                    repeat {
                        let page = try reader.tasks.list(filter, ascending: ascending, limit: limit, cursor: cursor)
                        #expect(page.tasks.count <= limit)
                        #expect(page.nextCursor == nil || page.tasks.count == limit)
                        found += page.tasks
                        cursor = page.nextCursor
                    } while cursor != nil
                    #expect(found == (ascending ? expected : expected.reversed()), "\(filter)")
                    let ids = try reader.tasks.ids(matching: filter, after: TaskID(10), upTo: TaskID(90), limit: limit)
                    #expect(ids == Array(expected.map(\.id).filter { (11...90).contains($0.rawValue) }.prefix(limit)))
                }
            }
        }
    }

    /// Pages that bounds of bytes and of inspected rows end early hold the same tasks, and each call makes progress.
    @Test(arguments: 1...8) func pagesThatBoundsEndEarlyContainExactlyTheMatchingTasks(seed: UInt64) async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                var random = SplitMix64(seed: seed)
                try Self.fill(transaction, &random, count: 100)
            }
            try await store.read { reader throws in
                var random = SplitMix64(seed: seed &+ 7)
                let all = try reader.tasks.list(TaskQuery(), ascending: true, limit: 1000).tasks
                for _ in 0..<60 {
                    let filter = Sample(&random).filter
                    let ascending = Bool.random(using: &random)
                    let bounds = PageBounds(
                        limit: Int.random(in: 1...40, using: &random), scan: Int.random(in: 1...120, using: &random),
                        bytes: Int.random(in: 1...20_000, using: &random))
                    let expected = all.filter { Self.matches($0, filter) }
                    var (found, cursor, pages): ([TransferTask], String?, Int) = ([], nil, 0)
                    repeat {
                        var page = try reader.tasks.list(filter, ascending: ascending, within: bounds, cursor: cursor)
                        #expect(page.tasks.count <= bounds.limit && page.places.map(\.id) == page.tasks.map(\.id))
                        // What an answer does that takes no more.
                        if page.tasks.count > 1, Bool.random(using: &random) {
                            let count = Int.random(in: 1..<page.tasks.count, using: &random)
                            page.cut(to: count)
                            #expect(page.tasks.count == count && page.nextCursor != nil)
                        }
                        found += page.tasks
                        cursor = page.nextCursor
                        pages += 1
                    } while cursor != nil && pages < 1000
                    #expect(found == (ascending ? expected : expected.reversed()), "\(filter) \(bounds)")
                    #expect(pages <= 201)
                }
            }
        }
    }

    @Test func aCursorOfAHostStaysValidWhenATaskAtANewPortIsAdded() async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                func add(_ port: UInt16) throws {
                    var task = specification()
                    task.request.url = HTTPURL(scheme: .http, host: "a", port: port, target: "/")
                    _ = try transaction.tasks.insert(task, state: .queued, at: noon)
                }
                for port in [1, 2, 65_535] as [UInt16] { try add(port) }
                let query = TaskQuery(hosts: [HostSelector("a")])
                let first = try transaction.tasks.list(query, ascending: true, limit: 2)
                try add(0)
                try transaction.add(1, to: "a;")
                let rest = try transaction.tasks.list(query, ascending: true, limit: 9, cursor: first.nextCursor)
                #expect((first.tasks + rest.tasks).map(\.id.rawValue) == [1, 2, 3, 4])
            }
        }
    }

    @Test func tasksAreFoundByKeyReasonURLAndTimes() async throws {
        try await withStore { store in
            try await store.write { tx throws in
                for number in 1...6 as ClosedRange<Int64> {
                    var spec = specification("a")
                    spec.clientKey = "key-\(number)"
                    spec.request.url = HTTPURL(
                        scheme: .http, host: "a", port: 80, target: number < 4 ? "/one/\(number)" : "/two?k=\(number)")
                    _ = try tx.tasks.insert(spec, state: .queued, at: noon.advanced(by: .seconds(number)))
                }
                try tx.setState(.completed, of: TaskID(5), finishedAt: noon.advanced(by: .seconds(50)))
                try tx.setState(.completed, of: TaskID(6), finishedAt: noon.advanced(by: .seconds(60)))
                func found(_ change: (inout TaskQuery) -> Void) throws -> [Int64] {
                    var query = TaskQuery()
                    change(&query)
                    return try tx.tasks.list(query, ascending: true, limit: 9).tasks.map(\.id.rawValue)
                }
                func time(_ seconds: Int64) -> Timestamp { noon.advanced(by: .seconds(seconds)) }
                #expect(try found { $0.clientKeys = ["key-2", "key-9"] } == [2])
                #expect(try found { $0.urlPrefix = "http://a/one/" } == [1, 2, 3])
                #expect(try found { $0.urlPrefix = "http://a/t" } == [4, 5, 6])
                #expect(try found { $0.urlPrefix = "http://a/one/2x" } == [])
                #expect(try found { $0.created = .init(from: time(2), before: time(4)) } == [2, 3])
                #expect(try found { $0.finished = .init(from: time(51)) } == [6])
                #expect(try found { $0.finished = .init(before: time(60)) } == [5])
                #expect(try found { $0.reasons = [.httpStatus] } == [])
                let queued = try tx.queue.list(
                    {
                        var query = TaskQuery()
                        query.urlPrefix = "http://a/one"
                        query.created = .init(before: time(3))
                        return query
                    }(), order: .fifo, limit: 9)
                #expect(queued.tasks.map(\.id.rawValue) == [1, 2])
                // Another time is another list.
                var query = TaskQuery()
                query.created.from = time(1)
                let cursor = try tx.tasks.list(query, limit: 1).nextCursor
                query.created.from = time(2)
                #expect(throws: StoreError.invalidCursor) { try tx.tasks.list(query, limit: 1, cursor: cursor) }
            }
        }
    }

    @Test func aWalkThatFindsNothingEndsAtItsBoundAndGoesOnBehindIt() async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                try transaction.add(10)
                try transaction.setState(.paused, of: TaskID(9))
            }
            try await store.read { reader throws in
                let filter = TaskQuery(states: [.paused], kinds: [.upload])
                // The only paused task is no upload: one row is inspected.
                #expect(try reader.tasks.list(filter, within: PageBounds(limit: 5, scan: 1)).nextCursor != nil)
                #expect(try reader.tasks.list(filter, within: PageBounds(limit: 5, scan: 2)).nextCursor == nil)
                let downloads = TaskQuery(kinds: [.download])
                let first = try reader.tasks.idPage(matching: downloads, upTo: TaskID(10), limit: 9, scan: 4)
                #expect(first.ids.map(\.rawValue) == [1, 2, 3, 4] && first.reached == TaskID(4))
                let whole = try reader.tasks.idPage(matching: downloads, upTo: TaskID(10), limit: 11, scan: 11)
                #expect(whole.ids.count == 10 && whole.reached == nil)
            }
        }
    }

    @Test(arguments: [false, true])
    func aMatchingTaskIsListedOnceWhileOthersComeAndGo(ascending: Bool) async throws {
        try await withStore { store in
            try await store.write { try $0.add(60) }
            let steady = Set((1...60).filter { $0 % 3 != 0 }.map { TaskID($0) })
            var (found, cursor, round): ([TaskID], String?, Int64) = ([], nil, 0)
            let filter = TaskQuery(states: [.queued])
            repeat {
                let page = try await store.read { [cursor] in
                    try $0.tasks.list(filter, ascending: ascending, limit: 7, cursor: cursor)
                }
                found += page.tasks.map(\.id)
                cursor = page.nextCursor
                round += 1
                if round <= 20 {
                    try await store.write { [round] transaction throws in
                        try transaction.add(1)
                        if round % 2 == 0 {
                            try transaction.tasks.delete(TaskID(round * 3))
                        } else {
                            try transaction.setState(.paused, of: TaskID(round * 3))
                        }
                    }
                }
            } while cursor != nil
            #expect(Set(found).count == found.count)
            #expect(steady.isSubset(of: found))
            #expect(found == (ascending ? found.sorted() : found.sorted().reversed()))
        }
    }

    @Test func aCursorIsBoundToItsFilterAndOrder() async throws {
        try await withStore { store in
            try await store.write { try $0.add(3) }
            try await store.read { reader throws in
                let filter = TaskQuery(states: [.queued, .paused], owners: [Owner(uid: 1000)])
                let cursor = try #require(try reader.tasks.list(filter, limit: 1).nextCursor)
                let same = TaskQuery(states: [.paused, .queued, .paused], owners: [Owner(uid: 1000)])
                #expect(try reader.tasks.list(same, limit: 1, cursor: cursor).tasks.map(\.id.rawValue) == [2])
                func refuses(_ filter: TaskQuery, _ ascending: Bool, _ cursor: String) {
                    #expect(throws: StoreError.invalidCursor) {
                        try reader.tasks.list(filter, ascending: ascending, limit: 1, cursor: cursor)
                    }
                }
                refuses(filter, true, cursor)
                refuses(TaskQuery(states: [.queued]), false, cursor)
                refuses(TaskQuery(), false, cursor)
                for nonsense in ["", "-", "2", "2-", "-5-\(cursor)", "zz zz", cursor + "0"] {
                    refuses(filter, false, nonsense)
                }
            }
        }
    }

    @Test func anEmptyFilterIsDistinguishedFromNoFilter() async throws {
        try await withStore { store in
            try await store.write { try $0.add(3) }
            try await store.read { reader throws in
                #expect(try reader.tasks.list(TaskQuery(), limit: 9).tasks.count == 3)
                #expect(try reader.tasks.list(TaskQuery(groups: []), limit: 9).tasks.isEmpty)
                #expect(try reader.tasks.list(TaskQuery(), limit: 3).nextCursor == nil)
            }
        }
    }

    @Test func aFilterMayNameManyIDsAndGroups() async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                for number in 0..<300 {
                    let spec = specification(group: "g\(number)")
                    _ = try transaction.tasks.insert(spec, state: .queued, at: noon)
                }
            }
            try await store.read { reader throws in
                let ids = TaskQuery(ids: (1...20_000).reversed().map { TaskID($0) })
                #expect(try reader.tasks.list(ids, limit: 1000).tasks.map(\.id.rawValue) == (1...300).reversed())
                let groups = TaskQuery(groups: (0..<250).map { "g\($0)" })
                #expect(
                    try reader.tasks.list(groups, ascending: true, limit: 1000).tasks.map(\.id.rawValue)
                        == Array(1...250))
            }
        }
    }

    @Test func trimmingForgetsTheTasksThatEndedFirst() async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                let ids = try transaction.add(10)
                for (index, id) in ids.enumerated().prefix(8) {
                    let state: TaskState = [.completed, .failed, .cancelled][index % 3]
                    // Ended in the opposite order of their ids.
                    try transaction.setState(state, of: id, finishedAt: noon.advanced(by: .seconds(100 - index)))
                }
            }
            let early = noon.advanced(by: .seconds(95))
            func trim(_ count: Int64, _ time: Timestamp, step: Int) async throws -> [Int64] {
                try await store.write {
                    try $0.tasks.trimHistory(maxCount: count, olderThan: time, step: step).tasks.map(\.rawValue)
                }
            }
            #expect(try await trim(100, noon, step: 5) == [])
            #expect(try await trim(100, early, step: 1) == [8])
            #expect(try await trim(100, early, step: 5) == [7])
            #expect(try await trim(100, early, step: 5) == [])
            #expect(try await trim(2, noon, step: 3) == [6, 5, 4])
            #expect(try await trim(2, noon, step: 3) == [3])
            #expect(try await trim(2, noon, step: 3) == [])
            #expect(try await trim(0, noon.advanced(by: .seconds(1000)), step: 300) == [2, 1])
            #expect(try await store.read { try $0.counts.byState() } == [.queued: 2])
        }
    }

    @Test func failedTasksWithExpiredBytesAreFound() async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                let partial = PartialLocation(directory: "/srv", identity: FileIdentity(device: 1, inode: 2))
                for (index, state) in ([.failed, .failed, .completed, .failed] as [TaskState]).enumerated() {
                    var task = try transaction.tasks.insert(specification(), state: .running, at: noon)
                    task.state = state
                    task.finishedAt = noon.advanced(by: .seconds(10 - index))
                    if index != 1 { task.transferID = try transaction.transfers.insert(partial: partial, at: noon).id }
                    try transaction.tasks.update(task)
                }
                let late = noon.advanced(by: .seconds(11))
                #expect(try transaction.tasks.expiredFailed(olderThan: late, limit: 9).map(\.id.rawValue) == [4, 1])
                #expect(try transaction.tasks.expiredFailed(olderThan: late, limit: 1).map(\.id.rawValue) == [4])
                #expect(try transaction.tasks.expiredFailed(olderThan: noon, limit: 9).isEmpty)
            }
        }
    }
}
