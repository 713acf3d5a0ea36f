import Testing
import XferCore
import XferModel

/// When progress of background operations is reported.
struct OperationRulesTests {
    private static let now = Timestamp(seconds: 1_000_000)

    @Test func theFirstStepIsReported() {
        #expect(OperationRules.isReportDue(lastAt: nil, now: Self.now))
    }

    @Test(arguments: [(0, false), (999, false), (1000, true), (60_000, true)])
    func aStepIsReportedOneSecondAfterTheLastReport(milliseconds: Int, isDue: Bool) {
        let now = Self.now.advanced(by: .milliseconds(milliseconds))
        #expect(OperationRules.isReportDue(lastAt: Self.now, now: now) == isDue)
    }

    @Test func aClockThatWasSetBackSilencesNoOperation() {
        #expect(OperationRules.isReportDue(lastAt: Self.now.advanced(by: .seconds(3600)), now: Self.now))
        #expect(OperationRules.isReportDue(lastAt: Timestamp(microseconds: .max), now: Timestamp(microseconds: .min)))
    }
}
