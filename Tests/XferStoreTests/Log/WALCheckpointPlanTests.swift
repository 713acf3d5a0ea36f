import Testing

@testable import XferStore

/// When the log is moved into the database, decided without one.
struct WALCheckpointPlanTests {
    private var plan = WALCheckpointPlan(WALCheckpointPlan.Limits(start: 100, rest: 10, bound: 400))

    @Test mutating func aShortLogIsLeftAlone() {
        #expect(plan.onCommit(length: 1) == .nothing)
        #expect(plan.onCommit(length: 99) == .nothing)
    }

    @Test mutating func hasTheBulkMovedBesideCommitsUntilTheRestIsSmall() {
        #expect(plan.onCommit(length: 100) == .moveBeside)
        #expect(plan.onCommit(length: 140) == .nothing)
        plan.onMovedBeside(.moved(100))
        #expect(plan.onCommit(length: 145) == .moveBeside)
        #expect(plan.onCommit(length: 152) == .nothing)
        plan.onMovedBeside(.moved(145))
        #expect(plan.onCommit(length: 155) == .move)
        plan.onMoved(.moved(155))
        // The log has restarted.
        #expect(plan.onCommit(length: 3) == .nothing)
        #expect(plan.onCommit(length: 100) == .moveBeside)
    }

    @Test mutating func oneLargeCommitIsMovedBesideOtherCommits() {
        #expect(plan.onCommit(length: 399) == .moveBeside)
    }

    @Test mutating func commitsWaitAtTheBound() {
        _ = plan.onCommit(length: 100)
        #expect(plan.onCommit(length: 399) == .nothing)
        #expect(plan.onCommit(length: 400) == .move)
    }

    @Test mutating func aLongReaderIsNotCheckedAtEachCommit() {
        _ = plan.onCommit(length: 100)
        plan.onMovedBeside(.moved(40))
        #expect(plan.onCommit(length: 101) == .moveBeside)
        plan.onMovedBeside(.moved(40))
        #expect(plan.onCommit(length: 102) == .nothing)
        #expect(plan.onCommit(length: 125) == .nothing)
        #expect(plan.onCommit(length: 126) == .moveBeside)
        plan.onMovedBeside(.refused)
        #expect(plan.onCommit(length: 130) == .nothing)
    }

    @Test mutating func aLongReaderIsNotCheckedAtEachCommitBeyondTheBound() {
        #expect(plan.onCommit(length: 500) == .move)
        plan.onMoved(.moved(20))
        #expect(plan.onCommit(length: 501) == .nothing)
        #expect(plan.onCommit(length: 510) == .move)
        plan.onMoved(.moved(510))
        #expect(plan.onCommit(length: 5) == .nothing)
    }

    /// A checkpoint of a log that is all in the database must not run beside the commit that restarts it.
    @Test mutating func framesMovedBeforeTheirCommitIsReportedCount() {
        _ = plan.onCommit(length: 100)
        plan.onMovedBeside(.moved(300))
        #expect(plan.onCommit(length: 300) == .move)
    }

    @Test mutating func framesMovedOfAnEarlierLogAreNotCounted() {
        _ = plan.onCommit(length: 399)
        // Another checkpoint moved all of it, and a commit restarted the log before the report.
        #expect(plan.onCommit(length: 110) == .nothing)
        plan.onMovedBeside(.moved(399))
        #expect(plan.moved == 0)
    }

    @Test(arguments: [true, false])
    mutating func nothingIsMovedAfterASyncThatFailed(isBeside: Bool) {
        _ = plan.onCommit(length: 100)
        if isBeside { plan.onMovedBeside(.unsynced) } else { plan.onMoved(.unsynced) }
        #expect(plan.isGivenUp)
        #expect(plan.onCommit(length: 399) == .nothing)
        #expect(plan.onCommit(length: 9999) == .nothing)
    }
}
