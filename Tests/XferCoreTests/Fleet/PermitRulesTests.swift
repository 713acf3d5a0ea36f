import Testing
import XferCore
import XferModel

struct PermitRulesTests {
    @Test func aFileThatIsFoundIsNeverFetchedAgain() {
        for isRepeatable in [false, true] {
            for wasCancelling in [false, true] {
                let verdict = PermitRules.judge(
                    isFound: true, isRepeatable: isRepeatable, wasCancelling: wasCancelling)
                #expect(verdict == .published)
            }
        }
    }

    @Test func aFileThatIsMissingIsFetchedAgainUnlessItIsCancelledOrMustNotBeRepeated() {
        #expect(PermitRules.judge(isFound: false, isRepeatable: true, wasCancelling: false) == .transfer)
        #expect(PermitRules.judge(isFound: false, isRepeatable: false, wasCancelling: false) == .end(.outcomeUnknown))
        #expect(PermitRules.judge(isFound: false, isRepeatable: true, wasCancelling: true) == .end(.cancelled))
        #expect(PermitRules.judge(isFound: false, isRepeatable: false, wasCancelling: true) == .end(.cancelled))
    }

    @Test func everyRefusalToPublishEndsInBoundedTries() {
        for reason in FailureReason.allCases.map(Optional.some) + [nil] {
            #expect(PermitRules.judge(reason, tries: PermitRules.mostTries) != .wait, "\(reason?.rawValue ?? "none")")
        }
        #expect(PermitRules.judge(.insufficientSpace, tries: 1) == .wait)
        #expect(PermitRules.judge(.destinationExists, tries: 1) == .fail)
        #expect(PermitRules.judge(.destinationUnavailable, tries: 1) == .decline)
    }

    @Test func aPermitIsLookedAfterBeforeAnythingElseIsDecided() {
        for cause in TakeoverRules.Cause.allCases {
            for hasBegun in [false, true] {
                for isCancelling in [false, true] {
                    let verdict = TakeoverRules.judge(
                        cause, place: .storage("nas"), isRepeatable: false, hasBegun: hasBegun,
                        isCancelling: isCancelling, isPublishing: true)
                    #expect(verdict == .queue)
                }
            }
        }
    }

    @Test func aCancellationOfAWaitingTaskWaitsForALookAtWhatMayBePublished() {
        func verdict(_ state: FleetTaskState, mayBePublished: Bool) -> WishRules.Verdict {
            WishRules.judge(
                .cancel, by: .operators, owner: "ada", place: .storage("nas"), state: state, isCancelling: false,
                mayBePublished: mayBePublished)
        }
        #expect(verdict(.queued, mayBePublished: true) == .deliver)
        #expect(verdict(.queued, mayBePublished: false) == .apply)
        #expect(verdict(.paused, mayBePublished: true) == .deliver)
        #expect(verdict(.paused, mayBePublished: false) == .apply)
    }

    @Test func aTaskDoesNotMoveBetweenSharedStorageAndANodesOwnDisk() {
        func verdict(_ place: FleetPlace, to other: FleetPlace) -> WishRules.Verdict {
            WishRules.judge(
                .move(other), by: .operators, owner: "ada", place: place, state: .queued, isCancelling: false)
        }
        #expect(verdict(.any, to: .storage("nas")) == .wrongState)
        #expect(verdict(.storage("nas"), to: .node("a")) == .wrongState)
        #expect(verdict(.storage("nas"), to: .storage("other")) == .apply)
        #expect(verdict(.any, to: .node("a")) == .apply)
    }
}
