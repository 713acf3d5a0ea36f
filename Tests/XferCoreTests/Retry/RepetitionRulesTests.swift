import Testing
import XferCore
import XferModel
import XferTestSupport

@Suite struct RepetitionRulesTests {
    private static let now = Timestamp(microseconds: 1_700_000_000_000_000)

    private static func task(
        _ method: HTTPMethod, kind: TaskKind = .data, headers: [HeaderField] = [],
        _ change: (inout TaskSpecification) -> Void = { _ in }
    ) -> TransferTask {
        var specification = TaskSpecification(
            owner: Owner(uid: 1),
            request: TransferRequest(
                url: HTTPURL(scheme: .https, host: "hooks.example", port: 443, target: "/"), method: method,
                headers: headers),
            destination: Destination(directory: "/"), kind: kind)
        change(&specification)
        var task = TransferTask(id: TaskID(1), specification: specification, state: .running, rank: 1, createdAt: now)
        task.attempts = 1
        return task
    }

    private func decide(_ error: TransferError, _ task: TransferTask, sent: Bool) -> RetryPolicy.Decision {
        var generator = SplitMix64(seed: 1)
        return RetryPolicy().decide(after: error, of: task, at: Self.now, requestWasSent: sent, using: &generator)
    }

    private func fails(_ decision: RetryPolicy.Decision, _ reason: FailureReason) -> Bool {
        if case .fail(let error) = decision { error.reason == reason } else { false }
    }

    private func waits(_ decision: RetryPolicy.Decision) -> Bool {
        if case .wait = decision { true } else { false }
    }

    @Test(arguments: [HTTPMethod.post, .patch])
    func aNonIdempotentRequestThatMayHaveBeenProcessedIsNotRepeated(method: HTTPMethod) {
        let lost = TransferError(.connectionLost, "reset")
        #expect(fails(decide(lost, Self.task(method), sent: true), .outcomeUnknown))
        let unavailable = TransferError(.httpStatus, "503", isRetriable: true, httpStatus: 503)
        #expect(fails(decide(unavailable, Self.task(method), sent: true), .outcomeUnknown))
        // Not even for want of space for the answer.
        let full = TransferError(.insufficientSpace, "full")
        #expect(fails(decide(full, Self.task(method), sent: true), .outcomeUnknown))
    }

    @Test(arguments: HTTPMethod.common)
    func aRequestThatWasNeverSentIsAlwaysRetried(method: HTTPMethod) {
        #expect(waits(decide(TransferError(.connectFailed, "refused"), Self.task(method), sent: false)))
    }

    @Test(arguments: [HTTPMethod.get, .head, .put, .delete])
    func idempotentMethodsAreTriedAgain(method: HTTPMethod) {
        #expect(waits(decide(TransferError(.connectionLost, "reset"), Self.task(method), sent: true)))
    }

    @Test(arguments: [408, 423, 425, 429])
    func aStatusThatMeansNothingWasProcessedAllowsARetry(status: Int) {
        let error = TransferError(.httpStatus, "later", isRetriable: true, httpStatus: status)
        #expect(waits(decide(error, Self.task(.post), sent: true)))
    }

    @Test func anIdempotencyMarkOfTheClientAllowsARetry() {
        let lost = TransferError(.connectionLost, "reset")
        let keyed = Self.task(.post, headers: [HeaderField(name: "idempotency-key", value: "\"8e03978e\"")])
        #expect(waits(decide(lost, keyed, sent: true)))
        #expect(waits(decide(lost, Self.task(.post) { $0.retriesNonIdempotent = true }, sent: true)))
        let empty = Self.task(.post, headers: [HeaderField(name: "Idempotency-Key", value: "")])
        #expect(fails(decide(lost, empty, sent: true), .outcomeUnknown))
    }

    @Test func uploadProtocolsAskTheServerBeforeARetry() {
        let lost = TransferError(.connectionLost, "reset")
        #expect(waits(decide(lost, Self.task(.post, kind: .upload) { $0.upload.uploadProtocol = .tus }, sent: true)))
        #expect(fails(decide(lost, Self.task(.post, kind: .upload), sent: true), .outcomeUnknown))
    }

    @Test func aPermanentFailureKeepsItsReason() {
        let refused = TransferError(.httpStatus, "404", isRetriable: false, httpStatus: 404)
        #expect(fails(decide(refused, Self.task(.post), sent: true), .httpStatus))
    }

    @Test func aRestartFailsOnlyRequestsThatMayHaveBeenSent() {
        var post = TaskStateMachine(Self.task(.post))
        let transition = post.onRestore(at: Self.now)
        #expect(post.task.state == .failed)
        #expect(post.task.error?.reason == .outcomeUnknown)
        #expect(transition.event?.type == .taskFailed)
        var put = TaskStateMachine(Self.task(.put))
        _ = put.onRestore(at: Self.now)
        #expect(put.task.state == .queued)
    }

    @Test func aRunningNonIdempotentRequestCannotBePaused() {
        var post = TaskStateMachine(Self.task(.post))
        #expect(!post.onPause().isChange)
        #expect(post.task.state == .running)
        var put = TaskStateMachine(Self.task(.put))
        #expect(put.onPause().isChange)
    }

}
