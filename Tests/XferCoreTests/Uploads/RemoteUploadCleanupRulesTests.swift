import Testing
import XferModel
import XferTestSupport

@testable import XferCore

/// When the service need not delete an abandoned upload on its server any more.
@Suite struct RemoteUploadCleanupRulesTests {
    private static let noon = Timestamp(seconds: 1_767_268_800)

    private func decide(
        _ status: Int?, retryAfter: Int64? = nil, tries: Int = 1, after elapsed: Duration = .zero
    ) -> RemoteUploadCleanupRules.Decision {
        var random = SplitMix64(seed: 1)
        return RemoteUploadCleanupRules.decide(
            status: status, retryAfter: retryAfter, tries: tries, abandonedAt: Self.noon,
            at: Self.noon.advanced(by: elapsed), using: &random)
    }

    @Test(arguments: [200, 204, 404, 410]) func anUploadThatNoLongerExistsIsDone(status: Int) {
        #expect(decide(status) == .done)
    }

    @Test(arguments: [400, 401, 403, 405, 409, 412]) func aRefusedDeletionIsNotRetried(status: Int) {
        #expect(decide(status) == .giveUp)
    }

    @Test(arguments: [nil, 302, 408, 423, 425, 429, 500, 503] as [Int?]) func aTransientFailureIsRetried(status: Int?) {
        for tries in [1, 5, 40] {
            guard case .tryAgain(let next) = decide(status, tries: tries) else {
                Issue.record("\(decide(status, tries: tries))")
                return
            }
            let wait = Self.noon.duration(to: next)
            #expect(wait >= .zero && wait <= (tries == 1 ? .seconds(1) : .seconds(3600)))
        }
    }

    @Test func retryAfterDelaysTheNextDeletion() {
        guard case .tryAgain(let next) = decide(503, retryAfter: 120) else {
            Issue.record("not tried again")
            return
        }
        #expect(Self.noon.duration(to: next) >= .seconds(120))
    }

    @Test func deletionsAreGivenUpAfterADay() {
        #expect(decide(nil, after: RemoteUploadCleanupRules.patience + .seconds(1)) == .giveUp)
        #expect(decide(503, retryAfter: 60, after: RemoteUploadCleanupRules.patience - .seconds(30)) == .giveUp)
    }
}
