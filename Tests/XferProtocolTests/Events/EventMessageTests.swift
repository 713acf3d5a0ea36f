import StrictJSON
import Testing
import XferModel

@testable import XferProtocol

/// One of each kind, with all its optional values.
private let payloads: [EventPayload] = [
    .taskAdded(url: "https://example.org/", label: "l", group: "g"),
    .taskRestored(received: 5),
    .taskStarted(attempt: 1, offset: 5),
    .taskResponse(status: 206, total: 10, etag: "\"e\"", resumed: true),
    .taskRedirected(status: 302, from: "https://a/", to: "https://b/", decision: .delivered),
    .taskWaiting(
        wait: Wait(.retry, until: Timestamp(seconds: 60)),
        error: TransferError(.connectionLost, "reset", curlCode: 56, host: "h")),
    .taskPaused(received: 5),
    .taskResumed,
    .taskSourceChanged(reason: "etag", dropped: 5),
    .taskBytesDiscarded(reason: "the partial file was removed", dropped: 6),
    .taskWarning(warning: "a page"),
    .taskStaged(size: 10),
    .taskCompleted(path: "/d/f", size: 10, skipped: true, notModified: true, warning: "a page"),
    .taskFailed(error: TransferError(.httpStatus, "404", httpStatus: 404)),
    .taskCancelled,
    .taskSuperseded(by: TaskID(4)),
    .taskRemoved, .taskRefreshed, .taskNotModified, .cacheHit(age: 9, fresh: true),
    .batchCompleted(batch: BatchID(3), total: 5, finished: 5, skipped: 2),
    .operationProgress(
        operation: OperationID(4), verb: .pause, changed: 3, unchanged: 2, reached: TaskID(5), last: TaskID(9)),
    .operationEnded(
        operation: OperationID(4), verb: .commit, state: .failed, changed: 3, unchanged: 2, refused: 1, error: "e"),
    .webhookDiscarded(limit: 65_536),
    .queueIdle(completed: 3, failed: 1),
    .activityChanged(active: true),
    .networkChanged(state: .metered),
    .policyViolation(
        failure: TrustFailure(
            reason: .pinMismatch, host: "h", port: 443, policy: "p", policyVersion: 3, code: 19, problem: "no pin",
            chain: KeyPin(digest: [UInt8](repeating: 1, count: 32)).map { [ShownCertificate(subject: "CN=h", key: $0)] }
                ?? [])),
    .policyExpiring(policy: "p", version: 3, expiresAt: Timestamp(seconds: 60), days: 7),
    .sessionInvalidated(policy: "p", version: 3),
    .daemonStarted(version: "1", queued: 2, restored: 1),
    .daemonStopping(mode: .drain),
]

private func event(_ payload: EventPayload) -> Event {
    let isAboutTask = payload.type.rawValue.hasPrefix("task.") || payload.type == .cacheHit
    return Event(
        seq: 7, time: Timestamp(seconds: 0), taskID: isAboutTask ? TaskID(3) : nil,
        owner: isAboutTask ? Owner(uid: 1000) : nil, payload: payload)
}

struct EventMessageTests {
    @Test func everyEventTypeHasATestPayload() {
        #expect(
            payloads.map(\.type).sorted { $0.rawValue < $1.rawValue }
                == EventType.allCases.sorted {
                    $0.rawValue < $1.rawValue
                })
    }

    /// The schema of a type is made from its example.
    @Test(arguments: EventType.allCases)
    func theExampleOfATypeIsOfThatType(type: EventType) {
        #expect(EventPayload.example(of: type).type == type)
    }

    /// A payload with all its values declares the fields that the schema, made from another payload, has.
    @Test(arguments: payloads)
    func anEventBodyMatchesItsSchema(payload: EventPayload) {
        let schema = EventSchema(EventPayload.example(of: payload.type), in: WireSchemas())
        let names = EventBody(payload).members.members.map(\.key)
        #expect(!schema.text.isEmpty)
        #expect(names == schema.properties.members.map(\.key))
        #expect(EventName.durable(payload.type).schemaName.hasSuffix("Event"))
    }

    @Test(arguments: payloads)
    func aWrittenEventParsesToItself(payload: EventPayload) throws {
        let message = EventMessage(event(payload)).delivered(on: 1, after: 6)
        let wire = message.wire
        var text: [UInt8] = []
        message.write(to: &text)
        #expect(String(decoding: text, as: UTF8.self) == wire.text)
        #expect(try EventMessage(lenient: wire) == message)
        #expect(wire["seq"] == 7)
        #expect(wire["prev_seq"] == 6)
        #expect(wire["subscription"] == 1)
        #expect(wire["type"] == .string(payload.type.rawValue))
        #expect(message.isTerminal == payload.type.isTerminal)
        // A staged task has not ended, but does not continue by itself; an ended operation is no task.
        let hasState = payload.type.isTerminal || [.taskStaged, .operationEnded].contains(payload.type)
        #expect((wire["state"] != nil) == hasState)
    }

    @Test func aFieldOfAnotherTypeIsNil() throws {
        let message = EventMessage(event(.taskCancelled))
        #expect(message.value("error", FailureRecord.self) == nil)
        #expect(message.progress == nil)
        let failed = EventMessage(event(.taskFailed(error: TransferError(.httpStatus, "404", httpStatus: 404))))
        #expect(failed.value("error", FailureRecord.self)?.httpStatus == 404)
        #expect(failed.value("error", Int64.self) == nil)
    }

    @Test func progressIsNotDurable() throws {
        let snapshot = ProgressSnapshot(
            taskID: TaskID(3), owner: Owner(uid: 1), phase: .transferring, received: 5, total: nil, rate: 2)
        let message = EventMessage(snapshot, at: Timestamp(seconds: 0)).delivered(on: 4, after: 9)
        #expect(
            message.wire == [
                "time": "1970-01-01T00:00:00.000Z", "type": "task.progress", "task_id": 3, "owner": 1,
                "subscription": 4, "phase": "transferring", "received": 5, "sent": 0, "total": nil, "rate": 2,
                "eta": nil,
            ])
        #expect(message.progress == ProgressRecord(snapshot))
    }

    @Test func anOverflowCarriesTheNumberToContinueAfter() throws {
        let message = EventMessage(overflowAfter: 41, at: Timestamp(seconds: 0))
        #expect(try EventMessage(lenient: message.wire).value("last_seq") == 41)
    }

    @Test func unknownEventsAreAccepted() throws {
        let message = try EventMessage(lenient: [
            "seq": 1, "time": "2026-01-02T03:04:05Z", "type": "moon.risen", "phase": "full",
        ])
        #expect(message.type == .unknown("moon.risen"))
        #expect(message.body == ["phase": "full"])
        #expect(throws: WireError.self) { try EventMessage(lenient: ["type": "task.added"]) }
    }
}
