import Testing
import XferModel
import XferTestSupport

@testable import XferStore

private let tenBytes = StoreTexts(event: { _ in "ten bytes." })
/// The room of three deliveries of 10 bytes each.
private let room = 3 * (10 + DeliveryLimits.overhead)

/// Deliveries to webhooks: recorded with their events, and what becomes of them.
struct DeliveryTests {
    private static let url = HTTPURL(scheme: .https, host: "ci.test", port: 443, target: "/hook")

    private func withDeliveries(
        _ webhooks: [WebhookDefinition],
        texts: StoreTexts = StoreTexts(event: { "\($0.type.rawValue) \($0.seq)" }),
        _ body: (TaskStore, Collected<Int>) async throws -> Void
    ) async throws {
        let directory = try StoreDirectory()
        let woken = Collected<Int>()
        var configuration = StoreConfiguration(
            path: directory.database, texts: texts)
        configuration.onPendingDeliveries = { woken.append(1) }
        let store = try TaskStore.open(configuration)
        store.follow(WebhookSubscriptions(webhooks))
        try await body(store, woken)
        try store.close()
        try TaskStore.check(at: directory.database, thoroughly: true)
    }

    private static let (first, second, chief) = (Owner(uid: 1001), Owner(uid: 1002), Owner(uid: 0))

    private func resume(_ count: Int, of owner: Owner?, in store: TaskStore) async throws {
        try await store.write { tx in
            for _ in 0..<count { try tx.events.append(.taskResumed, taskID: TaskID(1), owner: owner, at: noon) }
        }
    }

    private func discards(in store: TaskStore) async throws -> [Event] {
        try await store.read { try $0.events.list(since: 0, types: [.webhookDiscarded], limit: 100) }
    }

    @Test func aRepeatedWaitIsNotDelivered() async throws {
        let webhook = WebhookDefinition(name: "w", url: Self.url, events: [.taskWaiting])
        try await withDeliveries([webhook]) { store, _ in
            var repeated = Wait(.insufficientSpace)
            repeated.isRepeated = true
            let error = TransferError(.insufficientSpace, "full")
            try await store.write { [repeated] tx in
                for wait in [Wait(.insufficientSpace), repeated, Wait(.retry), repeated] {
                    try tx.events.append(
                        .taskWaiting(wait: wait, error: error), taskID: TaskID(1), owner: Self.first, at: noon)
                }
            }
            #expect(try await due(store, "w").count == 2)
            #expect(try await store.read { try $0.events.list(since: 0, types: [.taskWaiting], limit: 100) }.count == 4)
        }
    }

    @Test(arguments: [(room - 1, 2), (room, 3), (room + 1, 3)])
    func deliveriesOfAUserWaitAsFarAsTheirBytesAllow(limit: Int64, count: Int) async throws {
        let webhook = WebhookDefinition(name: "w", url: Self.url, events: [.taskResumed])
        try await withDeliveries([webhook], texts: tenBytes) { store, _ in
            let limits = DeliveryLimits(bytesPerUser: limit, unlimited: [Self.chief])
            store.follow(WebhookSubscriptions([webhook]), within: limits)
            // Those of an operator, of the service and of another user have no part in it.
            for owner in [Self.chief, nil] { try await resume(4, of: owner, in: store) }
            try await resume(5, of: Self.first, in: store)
            #expect(try await due(store, "w").count == 8 + count)
            try await resume(1, of: Self.second, in: store)
            let counts = try await store.read { try $0.deliveries.counts(of: "w") }
            #expect(counts.pending == 9 + Int64(count) && counts.failed == 5 - Int64(count))
            let waiting = try await store.read { try $0.deliveries.waiting(of: Self.first) }
            #expect(waiting.bytes == Int64(count) * room / 3 && waiting.isDiscarding)
            #expect(try await store.read { try $0.deliveries.discarded() } == 5 - Int64(count))
            let reported = try await discards(in: store)
            #expect(reported.map(\.owner) == [Self.first] && reported.first?.payload == .webhookDiscarded(limit: limit))
        }
    }

    @Test func discardedDeliveriesAreReportedAgainOnlyAfterHalfTheRoomWasFree() async throws {
        let webhook = WebhookDefinition(name: "w", url: Self.url, events: [.taskResumed, .webhookDiscarded])
        try await withDeliveries([webhook], texts: tenBytes) { store, _ in
            let limits = DeliveryLimits(bytesPerUser: 4 * room / 3)
            store.follow(WebhookSubscriptions([webhook]), within: limits)
            func removeFirst(_ count: Int) async throws {
                let ids = try await due(store, "w").prefix(count).map(\.id)
                try await store.write { tx in for id in ids { try tx.deliveries.remove(id) } }
            }
            try await resume(6, of: Self.first, in: store)
            try await resume(1, of: Self.first, in: store)
            #expect(try await discards(in: store).count == 1)
            // Room for one, which is taken: the next is discarded, and that is known.
            try await removeFirst(1)
            try await resume(2, of: Self.first, in: store)
            #expect(try await discards(in: store).count == 1)
            #expect(try await due(store, "w").count == 4)
            // With this one, half of the room is in use.
            try await removeFirst(3)
            try await resume(1, of: Self.first, in: store)
            #expect(try await !store.read { try $0.deliveries.waiting(of: Self.first).isDiscarding })
            try await resume(3, of: Self.first, in: store)
            #expect(try await discards(in: store).count == 2)
            #expect(try await store.read { try $0.deliveries.discarded() } == 5)
            // No webhook gets the event.
            let counts = try await store.read { try $0.deliveries.counts(of: "w") }
            #expect(counts.pending == 4 && counts.failed == 5)
        }
    }

    @Test func deliveriesThatAreGivenUpOrUndoneLeaveTheRoom() async throws {
        let webhook = WebhookDefinition(name: "w", url: Self.url, events: [.taskResumed])
        try await withDeliveries([webhook], texts: tenBytes) { store, _ in
            struct Undone: Error {}
            store.follow(WebhookSubscriptions([webhook]), within: DeliveryLimits(bytesPerUser: room))
            func waiting() async throws -> Int64 {
                try await store.read { try $0.deliveries.waiting(of: Self.first).bytes }
            }
            await #expect(throws: Undone.self) {
                try await store.write { tx in
                    for _ in 0..<9 { try tx.events.append(.taskResumed, owner: Self.first, at: noon) }
                    throw Undone()
                }
            }
            #expect(try await waiting() == 0)
            #expect(try await discards(in: store).isEmpty)
            try await resume(3, of: Self.first, in: store)
            let all = try await due(store, "w")
            try await store.write { tx in
                try tx.deliveries.fail(all[0].id, at: noon)
                try tx.deliveries.postpone(all[1].id, until: noon.advanced(by: .seconds(1)))
                #expect(try tx.deliveries.failOldest(of: "w", keeping: 1, at: noon) == 1)
            }
            #expect(try await waiting() == room / 3)
            try await store.write { try $0.deliveries.remove(all[2].id) }
            #expect(try await waiting() == 0)
        }
    }

    private func due(_ store: TaskStore, _ webhook: String) async throws -> [WebhookDelivery] {
        try await store.read { try $0.deliveries.due(of: webhook, now: noon, limit: 1000) }
    }

    @Test func aBatchHasTheOldestDeliveriesInOrderAndARefusalLeavesIt() async throws {
        try await withDeliveries([WebhookDefinition(name: "ends", url: Self.url)]) { store, _ in
            try await store.write { tx in
                for number in 1...5 { try tx.events.append(.taskCancelled, taskID: TaskID(Int64(number)), at: noon) }
            }
            func oldest(_ limit: Int, _ bytes: Int = 1000) async throws -> [String] {
                try await store.read { try $0.deliveries.oldest(of: "ends", limit: limit, bytes: bytes).map(\.body) }
            }
            let all = (1...5).map { "task.cancelled \($0)" }
            #expect(try await oldest(9) == all)
            #expect(try await oldest(2) == Array(all.prefix(2)))
            // 16 bytes each.
            #expect(try await oldest(9, 47) == Array(all.prefix(2)))
            #expect(try await oldest(9, 48) == Array(all.prefix(3)))
            #expect(try await oldest(9, 1) == Array(all.prefix(1)))
            let first = try #require(try await due(store, "ends").first)
            try await store.write { try $0.deliveries.countAttempt(at: first.id) }
            #expect(try await oldest(9) == all)
            #expect(try await due(store, "ends").map(\.attempts) == [1, 0, 0, 0, 0])
            // One that was given up stays so.
            try await store.write { tx in
                try tx.deliveries.fail(first.id, at: noon)
                try tx.deliveries.countAttempt(at: first.id)
            }
            #expect(try await oldest(9) == Array(all.dropFirst()))
        }
    }

    @Test func anEventBringsItsDeliveriesInTheSameTransaction() async throws {
        let webhooks = [
            WebhookDefinition(name: "ends", url: Self.url),
            WebhookDefinition(name: "adds", url: Self.url, events: [.taskAdded]),
        ]
        try await withDeliveries(webhooks) { store, woken in
            struct Undone: Error {}
            await #expect(throws: Undone.self) {
                try await store.write { tx in
                    try tx.events.append(.taskCancelled, taskID: TaskID(1), at: noon)
                    throw Undone()
                }
            }
            #expect(try await due(store, "ends").isEmpty)
            try await store.write { tx in
                try tx.events.append(.taskResumed, taskID: TaskID(1), at: noon)
                #expect(!tx.hasNewDeliveries)
                try tx.events.append(.taskCancelled, taskID: TaskID(1), at: noon)
                // As many as one statement inserts, and one more.
                let added = EventPayload.taskAdded(url: "https://a/", label: nil, group: nil)
                try tx.events.append((0..<11).map { _ in NewEvent(added, taskID: TaskID(2)) }, at: noon)
            }
            #expect(!woken.all.isEmpty)
            let end = try #require(try await due(store, "ends").first)
            #expect(end.key == "\(store.storeID)-2-ends" && end.body == "task.cancelled 2" && end.attempts == 0)
            #expect(end.createdAt == noon)
            #expect(try await due(store, "adds").map(\.body) == (3...13).map { "task.added \($0)" })
            #expect(try await store.read { try $0.deliveries.webhook(after: "") } == "adds")
            #expect(try await store.read { try $0.deliveries.webhook(after: "adds") } == "ends")
            #expect(try await store.read { try $0.deliveries.webhook(after: "ends") } == nil)
        }
    }

    @Test func theEndOfATaskGoesToTheWebhooksItNamesOnce() async throws {
        let failures = WebhookDefinition(name: "failures", url: Self.url, events: [.taskFailed])
        try await withDeliveries([failures]) { store, _ in
            let ids = try await store.write { tx in
                var wanted = specification()
                wanted.completion.onEnd = ["mine", "failures", "mine"]
                return try (0..<2).map { _ in try tx.tasks.insert(wanted, state: .queued, at: noon).id } + tx.add(1)
            }
            try await store.write { tx in
                for id in ids { try tx.setState(.failed, of: id, finishedAt: noon) }
                // Not the end's event.
                try tx.events.append(.taskSourceChanged(reason: "etag", dropped: 1), taskID: ids[0], at: noon)
                let error = TransferError(.httpStatus, "404")
                for id in ids { try tx.events.append(.taskFailed(error: error), taskID: id, at: noon) }
            }
            #expect(try await due(store, "mine").map(\.body) == ["task.failed 2", "task.failed 3"])
            #expect(try await due(store, "failures").map(\.body) == (2...4).map { "task.failed \($0)" })
            // A later event about the task is no end of it.
            try await store.write { try $0.events.append(.taskCancelled, taskID: ids[0], at: noon) }
            #expect(try await due(store, "mine").count == 2)
        }
    }

    @Test func aFilterOnTasksReadsGroupAndLabel() async throws {
        let filter = WebhookFilter(groups: ["g"], labels: ["l"])
        let webhook = WebhookDefinition(
            name: "some", url: Self.url, events: [.taskResumed, .queueIdle], filter: filter)
        try await withDeliveries([webhook]) { store, _ in
            try await store.write { tx in
                for (group, label) in [("g", "l"), ("g", "m"), (nil, "l")] as [(String?, String)] {
                    let task = try tx.tasks.insert(
                        specification(group: group, label: label), state: .queued, at: noon)
                    try tx.events.append(.taskResumed, taskID: task.id, owner: task.owner, at: noon)
                }
                try tx.events.append(.queueIdle(completed: 1, failed: 0), at: noon)
                try tx.events.append(.taskResumed, taskID: TaskID(99), at: noon)
            }
            #expect(try await due(store, "some").map(\.body) == ["task.resumed 1"])
        }
    }

    @Test func withoutWebhooksNothingIsRecorded() async throws {
        try await withDeliveries([]) { store, woken in
            try await store.write { tx in
                let id = try tx.add(1)[0]
                try tx.setState(.completed, of: id, finishedAt: noon)
                try tx.events.append(.taskCancelled, taskID: id, at: noon)
            }
            #expect(try await store.read { try $0.deliveries.webhook(after: "") } == nil && woken.all.isEmpty)
        }
    }

    @Test func aDeliveryIsPostponedGivenUpOrRemoved() async throws {
        let webhook = WebhookDefinition(name: "w", url: Self.url, events: [.taskResumed])
        try await withDeliveries([webhook]) { store, _ in
            let later = noon.advanced(by: .seconds(60))
            try await store.write { tx in
                for _ in 0..<3 { try tx.events.append(.taskResumed, at: noon) }
                let all = try tx.deliveries.due(of: "w", now: noon, limit: 9)
                try tx.deliveries.postpone(all[0].id, until: later)
                try tx.deliveries.fail(all[1].id, at: noon)
                try tx.deliveries.remove(all[2].id)
            }
            #expect(try await due(store, "w").isEmpty)
            #expect(try await store.read { try $0.deliveries.next(of: "w", after: noon) } == later)
            let postponed = try await store.read { try $0.deliveries.due(of: "w", now: later, limit: 9) }
            #expect(postponed.map(\.attempts) == [1])
            let counts = try await store.read { try $0.deliveries.counts(of: "w") }
            #expect(counts.pending == 1 && counts.failed == 1)
            // A delivery that was given up while it was tried stays so.
            try await store.write { tx in
                try tx.deliveries.fail(postponed[0].id, at: noon)
                try tx.deliveries.postpone(postponed[0].id, until: later)
            }
            let after = try await store.read { try $0.deliveries.counts(of: "w") }
            #expect(after.pending == 0 && after.failed == 2)
        }
    }

    @Test func waitsOfAClockAheadOfTimeAreEnded() async throws {
        let webhook = WebhookDefinition(name: "w", url: Self.url, events: [.taskResumed])
        try await withDeliveries([webhook]) { store, _ in
            try await store.write { tx in
                for _ in 0..<2 { try tx.events.append(.taskResumed, at: noon) }
                let all = try tx.deliveries.due(of: "w", now: noon, limit: 9)
                try tx.deliveries.postpone(all[0].id, until: noon.advanced(by: .seconds(1800)))
                try tx.deliveries.postpone(all[1].id, until: noon.advanced(by: .seconds(86_400)))
                var receiver = WebhookReceiverState()
                receiver.failures = 3
                receiver.pausedUntil = noon.advanced(by: .seconds(86_400))
                try tx.deliveries.setReceiverState(receiver, ofWebhook: "w")
                try tx.deliveries.capWaits(at: noon, longest: .seconds(3600))
            }
            #expect(try await due(store, "w").count == 1)
            let receiver = try await store.read { try $0.deliveries.receiverState(ofWebhook: "w") }
            #expect(receiver.failures == 3 && receiver.pausedUntil == nil)
            #expect(
                try await store.read { try $0.deliveries.receiverState(ofWebhook: "other") } == WebhookReceiverState())
        }
    }

    @Test func theOldestOfTooManyAreGivenUpAndForgotten() async throws {
        let webhook = WebhookDefinition(name: "w", url: Self.url, events: [.taskResumed])
        try await withDeliveries([webhook]) { store, _ in
            try await store.write { tx in for _ in 0..<10 { try tx.events.append(.taskResumed, at: noon) } }
            func counts() async throws -> [Int64] {
                let counts = try await store.read { try $0.deliveries.counts(of: "w") }
                return [counts.pending, counts.failed]
            }
            func giveUp(keeping count: Int) async throws -> Int {
                try await store.write { try $0.deliveries.failOldest(of: "w", keeping: count, at: noon, step: 4) }
            }
            #expect(try await giveUp(keeping: 10) == 0)
            #expect(try await giveUp(keeping: 4) == 4)
            #expect(try await giveUp(keeping: 4) == 2)
            #expect(try await giveUp(keeping: 4) == 0)
            #expect(try await counts() == [4, 6])
            #expect(try await due(store, "w").map(\.body) == (7...10).map { "task.resumed \($0)" })
            func trim(_ count: Int, before time: Timestamp) async throws -> Int {
                try await store.write { try $0.deliveries.trimFailed(maxCount: count, olderThan: time) }
            }
            #expect(try await trim(6, before: noon) == 0)
            #expect(try await trim(4, before: noon) == 2)
            #expect(try await counts() == [4, 4])
            #expect(try await trim(9, before: noon.advanced(by: .seconds(1))) == 4)
            #expect(try await counts() == [4, 0])
        }
    }

    @Test func aRecoveredDatabaseKeepsDeliveriesWithTheirKeys() async throws {
        let directory = try StoreDirectory()
        try directory.execute(SchemaFixture.sql(Migration.first))
        try directory.open().close()
        let report = try TaskStore.recover(at: directory.database, now: noon)
        #expect(report.salvaged["webhook_delivery"] == 2 && report.salvaged["webhook_state"] == 1)
        let store = try directory.open()
        #expect(store.storeID != "dad9c46e3960d7572426b76f5444d436")
        let later = noon.advanced(by: .seconds(60))
        let due = try await store.read { try $0.deliveries.due(of: "deploy", now: later, limit: 9) }
        #expect(due.map(\.key) == ["dad9c46e3960d7572426b76f5444d436-2-deploy"])
        try store.close()
    }
}
