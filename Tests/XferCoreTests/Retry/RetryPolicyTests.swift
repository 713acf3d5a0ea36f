import Testing
import XferCore
import XferModel
import XferTestSupport

@Suite struct RetryPolicyTests {
    let now = Timestamp(seconds: 1_800_000_000)
    let policy = RetryPolicy()

    func task(tries: Int, limits: RetryLimits = RetryLimits(), lastProgress: Timestamp? = nil) -> TransferTask {
        var task = TaskStateMachineTests.task(.running)
        task.attempts = tries
        task.specification.retry = limits
        task.lastProgressAt = lastProgress ?? now
        return task
    }

    func decide(_ error: TransferError, _ task: TransferTask) -> RetryPolicy.Decision {
        var random = SplitMix64(seed: 1)
        return policy.decide(after: error, of: task, at: now, using: &random)
    }

    @Test(arguments: FailureReason.allCases)
    func aReasonIsRetriedExactlyWhenItIsTransient(reason: FailureReason) {
        let error = TransferError(reason, "x")
        switch decide(error, task(tries: 1)) {
        case .wait: #expect(reason.isTransient)
        case .fail(let failed):
            #expect(!reason.isTransient)
            #expect(failed == error)
        case .again: Issue.record("nothing happened to the network")
        }
    }

    @Test func aFailureWithoutANetworkUsesUpNoTry() {
        let limits = RetryLimits(maxRetries: 0, retryFor: 0)
        var random = SplitMix64(seed: 1)
        for reason in FailureReason.allCases {
            for (isOffline, hasLost) in [(true, false), (false, true), (true, true)] {
                let network = NetworkCondition(isOffline: isOffline, hasLostSinceStart: hasLost)
                let error = TransferError(reason, "x")
                let decision = policy.decide(
                    after: error, of: task(tries: 1, limits: limits), at: now, network: network, using: &random)
                switch network.explanation(of: error) {
                case .waits: #expect(decision == .wait(Wait(.network)))
                case .again: #expect(decision == .again)
                case nil: #expect(decision == decide(error, task(tries: 1, limits: limits)))
                }
            }
        }
    }

    /// A host or a name server of the local network may come back without a network event.
    @Test func anUnreachableHostOfTheOwnNetworkIsRetriedPeriodically() {
        let network = NetworkCondition(isOffline: true, hasNeighbours: true)
        var random = SplitMix64(seed: 2)
        for _ in 0..<100 {
            let decision = policy.decide(
                after: TransferError(.dnsFailure, "x"), of: task(tries: 1), at: now, network: network, using: &random)
            guard case .wait(let wait) = decision, wait.reason == .network, let until = wait.until else {
                Issue.record("\(decision)")
                continue
            }
            #expect((150.0...300).contains(now.duration(to: until).inSeconds))
        }
    }

    @Test func aRequestThatMayHaveBeenProcessedIsNotRepeatedAfterANetworkChange() {
        var task = task(tries: 1)
        task.specification.request.method = .post
        var random = SplitMix64(seed: 1)
        let lost = NetworkCondition(hasLostSinceStart: true)
        for wasSent in [false, true] {
            let decision = policy.decide(
                after: TransferError(.connectionLost, "gone"), of: task, at: now, requestWasSent: wasSent,
                network: lost, using: &random)
            if case .fail(let error) = decision {
                #expect(wasSent && error.reason == .outcomeUnknown)
            } else {
                #expect(!wasSent && decision == .again)
            }
        }
    }

    @Test func delaysCoverTheRangeUpToTheDoublingBoundAndNeverExceedTheCap() {
        var random = SplitMix64(seed: 1)
        for tries in 1...30 {
            let bound = min(300.0, Double(1 << min(tries - 1, 20)))
            let delays = (0..<400).map { _ in policy.delay(tries: tries, retryAfter: nil, using: &random).inSeconds }
            #expect(delays.allSatisfy { (0...bound).contains($0) })
            #expect((delays.max() ?? 0) > bound * 0.8)
            #expect((delays.min() ?? bound) < bound * 0.2)
        }
    }

    @Test func retryAfterIsAFloorAndIsCappedAtAnHour() {
        var random = SplitMix64(seed: 1)
        for _ in 0..<100 {
            #expect(policy.delay(tries: 1, retryAfter: 120, using: &random) == .seconds(120))
            #expect(policy.delay(tries: 1, retryAfter: 999_999, using: &random) == .seconds(3600))
            #expect(policy.delay(tries: 1, retryAfter: -5, using: &random) <= .seconds(1))
        }
    }

    @Test func maxRetriesCountsTriesAfterTheFirst() {
        let error = TransferError(.connectionLost, "reset")
        let limits = RetryLimits(maxRetries: 2)
        for tries in 1...2 {
            guard case .wait(let wait) = decide(error, task(tries: tries, limits: limits)) else {
                Issue.record("try \(tries) was not retried")
                continue
            }
            #expect(wait.reason == .retry)
        }
        #expect(decide(error, task(tries: 3, limits: limits)) == .fail(error))
        #expect(decide(error, task(tries: 1, limits: RetryLimits(maxRetries: 0))) == .fail(error))
    }

    @Test func retryForEndsTheTriesAndProgressRestartsIt() {
        let error = TransferError(.connectionLost, "reset")
        let limits = RetryLimits(retryFor: 60)
        let longAgo = now.advanced(by: .seconds(-61))
        #expect(decide(error, task(tries: 9, limits: limits, lastProgress: longAgo)) == .fail(error))
        guard case .wait = decide(error, task(tries: 1, limits: limits, lastProgress: now)) else {
            Issue.record("not retried within retry_for")
            return
        }
    }

    @Test func noSpaceAndAMissingDirectoryAreWaitedForWithoutEnd() {
        let limits = RetryLimits(maxRetries: 0, retryFor: 0)
        let full = decide(TransferError(.insufficientSpace, "full"), task(tries: 99, limits: limits))
        #expect(full == .wait(Wait(.insufficientSpace, until: now.advanced(by: .seconds(5)))))
        let gone = decide(TransferError(.destinationUnavailable, "gone"), task(tries: 99, limits: limits))
        #expect(gone == .wait(Wait(.destinationUnavailable, until: now.advanced(by: .seconds(5)))))
    }
}
