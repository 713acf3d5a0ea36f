import NIOConcurrencyHelpers
import StrictJSON
import Testing
import XferCore
import XferModel
import XferProtocol
import XferStore
import XferTestSupport

@testable import XferManager

/// The manager sends events to a receiver that accepts them, refuses them or is away.
@Suite struct WebhookDeliveryTests {
    private func definition(
        _ name: String, _ fixture: ManagerFixture, events: Set<EventType> = WebhookDefinition.ends,
        secret: Secret? = nil, isForGuests: Bool = false
    ) -> WebhookDefinition {
        let port = UInt16(clamping: fixture.server.port)
        return WebhookDefinition(
            name: name, url: HTTPURL(scheme: .http, host: "127.0.0.1", port: port, target: "/\(name)"),
            events: events, secret: secret, isForGuests: isForGuests)
    }

    /// A task that needs no server: it is cancelled while it is paused.
    private func endATask(
        in manager: TransferManager, _ fixture: ManagerFixture,
        _ change: @escaping @Sendable (inout TaskSpecification) -> Void = { _ in }
    ) async throws -> TaskID {
        let id = try await fixture.add("/f", as: "f", to: manager, startsPaused: true, change)
        _ = try await manager.tasks.apply(.cancel, to: [id], for: ManagerFixture.caller)
        return id
    }

    private func pending(_ manager: TransferManager) async throws -> Int64 {
        try await manager.webhooks.list().reduce(0) { $0 + $1.pending }
    }

    private func body(_ request: RecordedRequest) throws -> JSONValue { try JSONValue(parsing: request.body) }

    @Test func anEventIsSentOnceSignedAndAsTheWireHasIt() async throws {
        let fixture = try await ManagerFixture()
        let key = fixture.directory.file("key")
        try FileTree.write("geheim\n", to: key, mode: 0o600)
        fixture.server.on("/ends") { _ in Reply(204, text: "") }
        let webhook = definition("ends", fixture, secret: .file(key))
        let manager = try await fixture.open(change: { $0.webhooks = [webhook] })
        try await manager.start()
        let id = try await endATask(in: manager, fixture)
        try await eventually("it is delivered") { try await pending(manager) == 0 }
        let requests = fixture.server.requests
        let request = try #require(requests.first)
        #expect(requests.count == 1 && request.method == "POST" && request.target == "/ends")
        #expect(request.header("Content-Type") == "application/json")
        let event = try body(request)
        let seq = try #require(event["seq"]?.integerValue)
        #expect(event["type"] == "task.cancelled" && event["task_id"] == .integer(id.rawValue))
        #expect(request.header("Idempotency-Key") == "\"\(manager.storeID)-\(seq)-ends\"")
        let timestamp = try #require(request.header("X-Xfer-Timestamp"))
        #expect(Int64(timestamp) != nil)
        #expect(
            request.header("X-Xfer-Signature")
                == WebhookSignature.value(of: request.body, timestamp: timestamp, secret: "geheim"))
        let status = try #require(try await manager.webhooks.list().first)
        #expect(status.lastDeliveredAt != nil && status.lastFailure == nil && status.failed == 0)
        await manager.shutdown(.suspend)
    }

    /// While the receiver refuses, events come to those that wait; then all arrive, each in its place.
    @Test func aBatchIsOneRequestWithItsEventsInOrderAlsoAfterARefusal() async throws {
        let fixture = try await ManagerFixture()
        let isUp = NIOLockedValueBox(false)
        let accepted = NIOLockedValueBox<[Int]>([])
        fixture.server.on("/ends") { request in
            guard isUp.withLockedValue({ $0 }) else { return Reply(503, text: "") }
            accepted.withLockedValue { $0.append(request.index) }
            return Reply(204, text: "")
        }
        var webhook = definition("ends", fixture)
        webhook.batch = 3
        let manager = try await fixture.open(change: { [webhook] in $0.webhooks = [webhook] })
        try await manager.start()
        var ended: [Int64] = []
        for _ in 0..<7 { ended.append(try await endATask(in: manager, fixture).rawValue) }
        try await eventually("a request is refused") {
            try await manager.webhooks.list().first?.lastFailure?.contains("503") == true
        }
        isUp.withLockedValue { $0 = true }
        try await eventually("all are delivered", within: Patience.long) { try await pending(manager) == 0 }
        let requests = fixture.server.requests(to: "/ends")
        func tasks(_ request: RecordedRequest) throws -> [Int64] {
            try (body(request).arrayValue ?? []).compactMap { $0["task_id"]?.integerValue }
        }
        let batches = try accepted.withLockedValue { $0 }.map { try tasks(requests[$0]) }
        #expect(batches.flatMap(\.self) == ended && batches.count <= 4, "\(batches)")
        #expect(batches.allSatisfy { $0.count <= 3 }, "\(batches)")
        for request in requests {
            // The same key for the same events, and no other.
            let key = request.header("Idempotency-Key")
            let others = try requests.filter { try tasks($0) == tasks(request) }
            #expect(others.map(\.index) == requests.filter { $0.header("Idempotency-Key") == key }.map(\.index))
        }
        let test = try await manager.webhooks.test("ends")
        #expect(test.failure == nil)
        #expect(try body(#require(fixture.server.requests.last)).arrayValue?.count == 1)
        await manager.shutdown(.suspend)
    }

    @Test func theSecretIsReadAtEveryTryAndWithoutItNothingIsSent() async throws {
        let fixture = try await ManagerFixture()
        let key = fixture.directory.file("key")
        fixture.server.on("/ends") { request in
            try? FileTree.write("second", to: key, mode: 0o600)
            return Reply(request.index == 0 ? 401 : 204, text: "")
        }
        let webhook = definition("ends", fixture, secret: .file(key))
        let manager = try await fixture.open(change: { $0.webhooks = [webhook] })
        try await manager.start()
        _ = try await endATask(in: manager, fixture)
        try await eventually("the secret is missed") {
            try await manager.webhooks.list().first?.lastFailure?.contains("the secret of webhook \"ends\"") == true
        }
        #expect(fixture.server.requests.isEmpty)
        try FileTree.write("first", to: key, mode: 0o600)
        try await eventually("it is delivered", within: Patience.long) { try await pending(manager) == 0 }
        let requests = fixture.server.requests
        #expect(requests.count == 2 && Set(requests.map { $0.header("Idempotency-Key") }).count == 1)
        for (request, secret) in zip(requests, ["first", "second"]) {
            let timestamp = try #require(request.header("X-Xfer-Timestamp"))
            #expect(
                request.header("X-Xfer-Signature")
                    == WebhookSignature.value(of: request.body, timestamp: timestamp, secret: secret))
        }
        await manager.shutdown(.suspend)
    }

    /// An hour by the wall clock, with a restart in it.
    @Test func deliveriesSurviveAnHoursOutageAndARestart() async throws {
        let fixture = try await ManagerFixture()
        let isUp = NIOLockedValueBox(false)
        fixture.server.on("/ends") { _ in Reply(isUp.withLockedValue { $0 } ? 200 : 503, text: "") }
        let webhook = definition("ends", fixture)
        let clock = SettableClock("2026-01-02T03:00:00Z")
        var manager = try await fixture.open(clock: clock.wall, change: { $0.webhooks = [webhook] })
        try await manager.start()
        var expected: Set<Int64> = []
        for minute in 0..<60 {
            let text = minute < 10 ? "0\(minute)" : "\(minute)"
            clock.set("2026-01-02T03:\(text):30Z")
            if minute % 6 == 0 { expected.insert(try await endATask(in: manager, fixture).rawValue) }
            let before = fixture.server.requests.count
            await manager.background.webhookDispatcher.onClockSet()
            try await eventually("the receiver is asked, or paused") {
                let status = try await manager.webhooks.list().first
                return status?.pausedUntil != nil || fixture.server.requests.count > before
            }
            guard minute == 30 else { continue }
            await manager.shutdown(.suspend)
            manager = try await fixture.open(clock: clock.wall, change: { $0.webhooks = [webhook] })
            try await manager.start()
        }
        let outage = fixture.server.requests
        #expect(try await pending(manager) == Int64(expected.count))
        #expect(!outage.isEmpty && outage.count <= 100, "\(outage.count) requests in an hour")
        isUp.withLockedValue { $0 = true }
        clock.set("2026-01-02T04:30:00Z")
        await manager.background.webhookDispatcher.onClockSet()
        try await eventually("all are delivered", within: Patience.long) { try await pending(manager) == 0 }
        let accepted = fixture.server.requests.dropFirst(outage.count)
        #expect(try Set(accepted.map { try body($0)["task_id"]?.integerValue ?? 0 }) == expected)
        #expect(accepted.count == expected.count)
        // Every repetition has the key and the body of the first try.
        let byKey = Dictionary(grouping: fixture.server.requests) { $0.header("Idempotency-Key") }
        #expect(byKey.count == expected.count)
        for requests in byKey.values { #expect(Set(requests.map(\.body)).count == 1) }
        let status = try #require(try await manager.webhooks.list().first)
        #expect(status.pausedUntil == nil && status.lastFailure?.contains("503") == true)
        await manager.shutdown(.suspend)
    }

    @Test func aRefusalForGoodAndARemovedWebhookEndTheirDeliveries() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.on("/gone") { _ in Reply(410, text: "") }
        fixture.server.on("/away") { _ in Reply(503, text: "") }
        let webhooks = [definition("gone", fixture), definition("away", fixture)]
        let manager = try await fixture.open(change: { $0.webhooks = webhooks })
        try await manager.start()
        _ = try await endATask(in: manager, fixture)
        try await eventually("one is given up") {
            try await manager.webhooks.list().map(\.failed) == [0, 1]
        }
        #expect(try await manager.webhooks.list().map(\.pending) == [1, 0])
        #expect(fixture.server.requests(to: "/gone").count == 1)
        // Without their definition, deliveries end.
        var settings = manager.context.settings.withLockedValue(\.self)
        settings.webhooks = [webhooks[0]]
        try await manager.reload(settings)
        try await eventually("nothing waits") {
            try await manager.store.read { try $0.deliveries.webhook(after: "") } == nil
        }
        let receiver = try await manager.store.read { try $0.deliveries.receiverState(ofWebhook: "away") }
        #expect(receiver.lastFailure == "the webhook \"away\" is no longer configured")
        let asked = fixture.server.requests(to: "/away").count
        _ = try await endATask(in: manager, fixture)
        try await eventually("the other is asked") { fixture.server.requests(to: "/gone").count == 2 }
        #expect(fixture.server.requests(to: "/away").count == asked)
        await manager.shutdown(.suspend)
    }

    @Test func aRedirectIsNotFollowed() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.on("/ends") { _ in .redirect(to: "/elsewhere") }
        let webhook = definition("ends", fixture)
        let manager = try await fixture.open(change: { $0.webhooks = [webhook] })
        try await manager.start()
        let result = try await manager.webhooks.test("ends")
        #expect(result.failure?.contains("redirect") == true, "\(result)")
        #expect(fixture.server.requests(to: "/elsewhere").isEmpty)
        await manager.shutdown(.suspend)
    }

    @Test func aReceiverDeniedByTheAdmissionListsIsNotContacted() async throws {
        let fixture = try await ManagerFixture()
        let denied = [try HostPattern("127.0.0.1")]
        let webhook = definition("ends", fixture)
        let manager = try await fixture.open(change: {
            $0.webhooks = [webhook]
            $0.admission = AdmissionLists(deniedHosts: denied)
        })
        try await manager.start()
        let result = try await manager.webhooks.test("ends")
        #expect(result.status == nil && result.failure != nil && fixture.server.requests.isEmpty, "\(result)")
        await manager.shutdown(.suspend)
    }

    @Test func deliveriesAppearInNoCountListOrEvent() async throws {
        let fixture = try await ManagerFixture()
        let gate = Gate()
        fixture.server.onAnyOther { _ in
            var reply = Reply(200, text: "")
            reply.headGate = gate
            return reply
        }
        let webhook = definition("all", fixture, events: Set(EventType.allCases))
        let manager = try await fixture.open(change: {
            $0.webhooks = [webhook]
            $0.maxActive = 1
        })
        try await manager.start()
        _ = try await endATask(in: manager, fixture)
        // More than `max_active` allows; a task has four events at least.
        await gate.arrived(4)
        let counts = try await manager.queries.counts()
        #expect(counts.filter { $0.value > 0 } == [.cancelled: 1], "\(counts)")
        #expect(!manager.isActive)
        let last = try await manager.store.read { try $0.events.lastSeq() }
        gate.open()
        try await eventually("all are delivered") { try await pending(manager) == 0 }
        // No delivery caused an event.
        #expect(try await manager.store.read { try $0.events.lastSeq() } == last)
        let seqs = try fixture.server.requests.map { try body($0)["seq"]?.integerValue ?? 0 }
        #expect(seqs.sorted() == Array(1...last))
        await manager.shutdown(.suspend)
    }

    @Test func guestsNameOnlyWebhooksReleasedForGuests() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.onAnyOther { _ in Reply(200, text: "") }
        let webhooks = [
            definition("mine", fixture, events: []), definition("theirs", fixture, events: [], isForGuests: true),
        ]
        let manager = try await fixture.open(change: { $0.webhooks = webhooks })
        try await manager.start()
        let guest = Principal(owner: Owner(uid: 1000), isOperator: false, roots: [fixture.directory.path])
        await #expect(
            throws: ManagerError.invalidField(
                path: "on_end[1]", reason: "there is no webhook \"mine\"", expected: "one of theirs")
        ) {
            _ = try await fixture.add("/f", as: "f", to: manager, startsPaused: true, for: guest) {
                $0.completion.onEnd = ["theirs", "mine"]
            }
        }
        let id = try await fixture.add("/f", as: "f", to: manager, startsPaused: true, for: guest) {
            $0.completion.onEnd = ["theirs"]
        }
        _ = try await manager.tasks.apply(.cancel, to: [id], for: guest)
        // Without a name, its end goes to none of them.
        _ = try await endATask(in: manager, fixture)
        _ = try await endATask(in: manager, fixture) { $0.completion.onEnd = ["mine"] }
        try await eventually("both are delivered") { fixture.server.requests.count == 2 }
        try await eventually("nothing waits") { try await pending(manager) == 0 }
        #expect(fixture.server.requests.map(\.path).sorted() == ["/mine", "/theirs"])
        await manager.shutdown(.suspend)
    }

    /// The event of the end and the update that ends the task are committed in this order by every path.
    @Test func everyKindOfEndReachesTheWebhookThatItsTaskNames() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.on("/named") { _ in Reply(200, text: "") }
        fixture.server.serve("/whole", .tagged(701, length: 1000))
        let webhook = definition("named", fixture, events: [])
        let manager = try await fixture.open(change: { $0.webhooks = [webhook] })
        try await manager.start()
        let completed = try await fixture.add("/whole", as: "whole", to: manager) { $0.completion.onEnd = ["named"] }
        let failed = try await fixture.add("/gone", as: "gone", to: manager) { $0.completion.onEnd = ["named"] }
        let cancelled = try await endATask(in: manager, fixture) { $0.completion.onEnd = ["named"] }
        let superseded = try await fixture.add("/f", as: "g", to: manager, startsPaused: true) {
            $0.completion.onEnd = ["named"]
            $0.slot = "place"
        }
        _ = try await fixture.add("/f", as: "h", to: manager, startsPaused: true) { $0.slot = "place" }
        try await eventually("all four are delivered") { fixture.server.requests(to: "/named").count == 4 }
        let sent = try fixture.server.requests(to: "/named").map { request in
            let event = try body(request)
            return [event["type"]?.stringValue ?? "", "\(event["task_id"]?.integerValue ?? 0)"]
        }
        #expect(
            Set(sent) == [
                ["task.completed", "\(completed)"], ["task.failed", "\(failed)"], ["task.cancelled", "\(cancelled)"],
                ["task.superseded", "\(superseded)"],
            ])
        await manager.shutdown(.suspend)
    }

    @Test func aTestIsSentOnceAndKeepsNothing() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.on("/ends") { request in Reply(request.index == 0 ? 200 : 500, text: "") }
        let webhook = definition("ends", fixture)
        let manager = try await fixture.open(change: { $0.webhooks = [webhook] })
        try await manager.start()
        let accepted = try await manager.webhooks.test("ends")
        #expect(accepted.status == 200 && accepted.failure == nil && accepted.duration > 0)
        let refused = try await manager.webhooks.test("ends")
        #expect(refused.status == 500 && refused.failure?.contains("500") == true)
        let requests = fixture.server.requests
        #expect(requests.count == 2 && Set(requests.map { $0.header("Idempotency-Key") }).count == 2)
        #expect(try body(requests[0])["type"] == "webhook.test" && body(requests[0])["webhook"] == "ends")
        let status = try #require(try await manager.webhooks.list().first)
        #expect(status.pending == 0 && status.failed == 0 && status.lastFailedAt == nil)
        await #expect(throws: ManagerError.self) { try await manager.webhooks.test("other") }
        await manager.shutdown(.suspend)
    }
}
