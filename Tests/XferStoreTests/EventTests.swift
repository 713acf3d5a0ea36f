import Testing
import XferModel
import XferTestSupport

@testable import XferStore

/// The event log.
struct EventTests {
    private static let payloads: [EventPayload] = [
        .taskAdded(url: "https://a/", label: nil, group: "g"), .taskStarted(attempt: 1, offset: 0),
        .taskResponse(status: 200, total: nil, etag: "\"x\"", resumed: false),
        .taskRedirected(status: 302, from: "a", to: "b"), .taskSourceChanged(reason: "etag", dropped: 1),
        .taskBytesDiscarded(reason: "gone", dropped: 2), .taskWarning(warning: "a page"),
        .taskWaiting(wait: Wait(.retry, until: noon), error: TransferError(.connectionLost, "gone")),
        .taskPaused(received: 3), .taskResumed, .taskRestored(received: 4),
        .taskCompleted(path: "/a", size: 5, skipped: false, notModified: true),
        .taskCompleted(path: "/b", size: 6, skipped: false, notModified: false, warning: "a page"),
        .taskFailed(error: TransferError(.httpStatus, "404", httpStatus: 404)), .taskCancelled, .taskRemoved,
        .batchCompleted(batch: BatchID(3), total: 5, finished: 5, skipped: 2),
        .operationProgress(
            operation: OperationID(4), verb: .pause, changed: 3, unchanged: 2, reached: TaskID(5), last: TaskID(9)),
        .operationEnded(
            operation: OperationID(4), verb: .remove, state: .failed, changed: 3, unchanged: 2, refused: 1, error: "e"),
        .webhookDiscarded(limit: 65_536), .queueIdle(completed: 1, failed: 2), .activityChanged(active: true),
        .networkChanged(state: .offline),
        .daemonStarted(version: "1", queued: 1, restored: 0), .daemonStopping(mode: .drain),
    ]

    @Test func everyKindOfEventIsStored() async throws {
        try await withStore { store in
            let appended = try await store.write { transaction throws in
                try Self.payloads.enumerated().map { index, payload in
                    try transaction.events.append(
                        payload, taskID: index.isMultiple(of: 2) ? TaskID(7) : nil,
                        owner: index.isMultiple(of: 3) ? Owner(uid: .max) : nil,
                        at: noon.advanced(by: .seconds(index)))
                }
            }
            #expect(appended.map(\.seq) == Array(1...Int64(Self.payloads.count)))
            #expect(try await store.read { try $0.events.list(since: 0, limit: 100) } == appended)
            #expect(try await store.read { try $0.events.lastSeq() } == Int64(Self.payloads.count))
        }
    }

    @Test(arguments: [nil, "", "a \"quoted\" \\ \n\u{1} ü"] as [String?])
    func eventsWrittenByHandAreReadByTheDecoder(text: String?) throws {
        let payloads: [EventPayload] = [
            .taskAdded(url: text ?? "u", label: text, group: text), .taskStarted(attempt: .max, offset: .min),
            .taskResponse(status: 206, total: text == nil ? nil : 1 << 60, etag: text, resumed: text == nil),
            .taskCompleted(path: text, size: 1, skipped: text == nil, notModified: text != nil, warning: text),
            .taskPaused(received: .max), .taskResumed, .taskCancelled, .taskRemoved,
        ]
        for payload in payloads {
            let written = try EventText.encode(payload)
            #expect(JSONText.decode(EventPayload.self, from: written) == payload)
            // And the encoder would have written nothing more; it has other escapes for control characters.
            guard text?.contains("\n") != true else { continue }
            let encoded = try JSONText.encode(payload)
            #expect(encoded.utf8.sorted() == written.utf8.sorted())
        }
    }

    /// Runs of alike events are written by one statement; they keep their order among the others.
    @Test(arguments: [1, 10, 11, 12, 21, 500]) func manyEventsKeepTheirOrder(count: Int) async throws {
        let alike = (1...count).map {
            NewEvent(.taskPaused(received: 7), taskID: TaskID(Int64(900 - $0)), owner: Owner(uid: 5))
        }
        let others = (1...count).map {
            NewEvent(.taskPaused(received: Int64($0)), taskID: TaskID(Int64($0)), owner: Owner(uid: 5))
        }
        let withoutTask = (1...count).map { _ in NewEvent(.taskResumed) }
        let all = others + alike + withoutTask + alike + others
        try await withStore { store in
            try await store.write { try $0.events.append(all, at: noon) }
            let expected = all.enumerated().map { $1.numbered(Int64($0 + 1), at: noon) }
            #expect(try await store.read { try $0.events.list(since: 0, limit: .max) } == expected)
        }
    }

    @Test func eventsAreFilteredByNumberTypeTaskAndOwner() async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                for number in 1...12 as ClosedRange<Int64> {
                    try transaction.events.append(
                        number.isMultiple(of: 2) ? .taskResumed : .taskCancelled, taskID: TaskID(number % 3),
                        owner: number == 12 ? nil : Owner(uid: UInt32(number % 4)), at: noon)
                }
            }
            func found(
                since: Int64 = 0, _ types: Set<EventType>? = nil, _ ids: Set<TaskID>? = nil, _ owner: UInt32? = nil,
                limit: Int = 100
            ) async throws -> [Int64] {
                let owner = owner.map(Owner.init(uid:))
                return try await store.read {
                    try $0.events.list(since: since, types: types, taskIDs: ids, owner: owner, limit: limit).map(\.seq)
                }
            }
            #expect(try await found(since: 9) == [10, 11, 12])
            #expect(try await found(since: 3, limit: 2) == [4, 5])
            #expect(try await found(since: 12) == [])
            #expect(try await found([.taskCancelled]) == [1, 3, 5, 7, 9, 11])
            #expect(try await found(since: 1, nil, [TaskID(0), TaskID(1)]) == [3, 4, 6, 7, 9, 10, 12])
            #expect(try await found([.taskResumed], [TaskID(1)]) == [4, 10])
            // Events without a task are the service's own.
            #expect(try await found(nil, nil, 1) == [1, 5, 9])
            #expect(try await found([], nil) == [])
            #expect(try await found(nil, []) == [])
        }
    }

    /// Every page of every filter is as if each event had a row.
    @Test(arguments: [1, 4, 11]) func seriesAreReadAsEvents(count: Int) async throws {
        try await withStore { store in
            let (first, end) = (NewEvent(.taskResumed, taskID: TaskID(1)), NewEvent(.taskRemoved, taskID: TaskID(1)))
            let series = (1...count).map { number in
                let payloads: [EventPayload] = [
                    .taskStarted(attempt: 1, offset: 0),
                    .taskResponse(status: 200, total: 9, etag: "\"\(number)\"", resumed: false),
                    .taskCompleted(path: "/\(number)", size: 9, skipped: false, notModified: false),
                ]
                return EventSeries(
                    Array(payloads.suffix(1 + number % 3)), taskID: TaskID(Int64(number)),
                    owner: Owner(uid: UInt32(number % 2)))
            }
            try await store.write { tx throws in
                try tx.events.append([first], at: noon)
                try tx.events.append(series, at: noon)
                try tx.events.append([end], at: noon)
            }
            let inner = series.flatMap { one in
                one.payloads.map { NewEvent($0, taskID: one.taskID, owner: one.owner) }
            }
            let expected = ([first] + inner + [end]).enumerated().map { $1.numbered(Int64($0 + 1), at: noon) }
            let last = Int64(expected.count)
            #expect(try await store.read { try $0.events.lastSeq() } == last)
            let filters: [Set<EventType>?] = [
                nil, [], [.taskStarted], [.taskResponse], [.taskCompleted], [.taskRemoved, .taskResponse],
                [.taskFailed],
            ]
            let restrictions: [(owner: Owner?, task: TaskID?)] = [(nil, nil), (Owner(uid: 1), nil), (nil, TaskID(1))]
            try await store.read { reader throws in
                for (types, (owner, task)) in filters.flatMap({ types in restrictions.map { (types, $0) } }) {
                    let wanted = expected.filter { event in
                        (types?.contains(event.type) ?? true) && (owner == nil || event.owner == owner)
                            && (task == nil || event.taskID == task)
                    }
                    for (since, limit) in (0...last).flatMap({ since in [1, 2, 100].map { (since, $0) } }) {
                        let found = try reader.events.list(
                            since: since, types: types, taskIDs: task.map { [$0] }, owner: owner, limit: limit)
                        #expect(found == Array(wanted.filter { $0.seq > since }.prefix(limit)))
                    }
                }
            }
        }
    }

    /// Bounds of numbers and bytes end pages early, also within a series; nothing is lost and nothing comes twice.
    @Test(arguments: [1, 2, 3, 4, 50], [1, 200, Int.max])
    func pagesOfEventsThatBoundsEndEarlyAreTheSame(scan: Int, bytes: Int) async throws {
        try await withStore { store in
            try await store.write { tx throws in
                for number in 1...9 as ClosedRange<Int64> {
                    try tx.events.append([NewEvent(.taskResumed, taskID: TaskID(number))], at: noon)
                    let series: [EventPayload] = [
                        .taskStarted(attempt: 1, offset: 0),
                        .taskCompleted(path: "/\(number)", size: 9, skipped: false, notModified: false),
                    ]
                    try tx.events.append([EventSeries(series, taskID: TaskID(number), owner: Owner(uid: 1))], at: noon)
                }
            }
            try await store.read { reader throws in
                for types in [nil, [.taskStarted], [.taskFailed]] as [Set<EventType>?] {
                    let whole = try reader.events.list(since: 0, types: types, limit: 100)
                    var (found, since, pages): ([Event], Int64, Int) = ([], 0, 0)
                    while true {
                        let bounds = PageBounds(limit: 4, scan: scan, bytes: bytes)
                        let page = try reader.events.page(since: since, types: types, within: bounds)
                        found += page.events
                        pages += 1
                        guard page.reached > since else { break }
                        since = page.reached
                    }
                    #expect(found == whole && since == 27 && pages <= 28)
                }
                #expect(try reader.events.page(since: 27, within: PageBounds(limit: 1)).reached == 27)
            }
        }
    }

    @Test func aSeriesIsTrimmedWhole() async throws {
        try await withStore { store in
            let end = EventPayload.taskCompleted(path: "/a", size: 1, skipped: false, notModified: false)
            try await store.write { tx throws in
                for number in 1...3 as ClosedRange<Int64> {
                    try tx.events.append(
                        [
                            EventSeries(
                                [.taskStarted(attempt: 1, offset: 0), end], taskID: TaskID(number),
                                owner: Owner(uid: 1))
                        ], at: noon)
                }
            }
            let later = noon.advanced(by: .seconds(90_000))
            #expect(try await store.read { try $0.events.firstSeq() } == 1)
            // The third event is beyond the count, and its series is not as a whole.
            #expect(try await store.write { try $0.events.trim(maxCount: 3, olderThan: noon, now: later) } == 1)
            #expect(try await store.read { try $0.events.firstSeq() } == 3)
            #expect(try await store.read { try $0.events.list(since: 0, limit: 9).map(\.seq) } == [3, 4, 5, 6])
        }
    }

    @Test func aFailedChangeSetLeavesNoGapInTheEventNumbers() async throws {
        struct Refused: Error {}
        try await withStore { store in
            for number in 0..<10 {
                _ = try? await store.write { transaction throws in
                    try transaction.events.append(.taskResumed, at: noon)
                    if number % 3 == 1 { throw Refused() }
                }
            }
            let events = try await store.read { try $0.events.list(since: 0, limit: 100) }
            #expect(events.map(\.seq) == Array(1...7))
        }
    }

    @Test func eventNumbersContinueAfterEverythingWasTrimmedAndTheStoreReopened() async throws {
        let directory = try StoreDirectory()
        var store = try directory.open()
        try await store.write { transaction throws in
            for _ in 0..<5 { try transaction.events.append(.taskResumed, at: noon) }
        }
        let later = noon.advanced(by: .seconds(90_000))
        #expect(try await store.write { try $0.events.trim(maxCount: 0, olderThan: later, now: later) } == 5)
        #expect(try await store.read { try $0.events.firstSeq() } == nil)
        #expect(try await store.read { try $0.events.lastSeq() } == 5)
        try store.close()
        store = try directory.open()
        #expect(try await store.write { try $0.events.append(.taskResumed, at: later).seq } == 6)
        #expect(try await store.read { try $0.events.firstSeq() } == 6)
        try store.close()
    }

    @Test func eventsAreTrimmedByNumberAndAgeButKeptForADay() async throws {
        try await withStore { store in
            // One every hour.
            try await store.write { transaction throws in
                for hour in 0..<100 {
                    try transaction.events.append(.taskResumed, at: noon.advanced(by: .seconds(hour * 3600)))
                }
            }
            let now = noon.advanced(by: .seconds(100 * 3600))
            func trim(_ count: Int64, olderThanHour hour: Int, step: Int) async throws -> Int {
                try await store.write {
                    try $0.events.trim(
                        maxCount: count, olderThan: noon.advanced(by: .seconds(hour * 3600)), now: now, step: step)
                }
            }
            #expect(try await trim(100, olderThanHour: 0, step: 10) == 0)
            #expect(try await trim(95, olderThanHour: 0, step: 10) == 5)
            #expect(try await trim(100, olderThanHour: 20, step: 10) == 10)
            #expect(try await trim(100, olderThanHour: 20, step: 10) == 5)
            #expect(try await trim(100, olderThanHour: 20, step: 10) == 0)
            #expect(try await trim(0, olderThanHour: 100, step: 1000) == 56)
            #expect(try await store.read { try $0.events.firstSeq() } == 77)
            #expect(try await trim(0, olderThanHour: 100, step: 1000) == 0)
        }
    }

    @Test func oneEventInTheFutureDoesNotStopTheTrimming() async throws {
        try await withStore { store in
            let now = noon.advanced(by: .seconds(200_000))
            try await store.write { transaction throws in
                try transaction.events.append(.taskResumed, at: noon.advanced(by: .seconds(1_000_000_000)))
                for _ in 0..<9 { try transaction.events.append(.taskResumed, at: noon) }
            }
            #expect(try await store.write { try $0.events.trim(maxCount: 100, olderThan: now, now: now) } == 10)
        }
    }
}
