import Testing
import XferCore
import XferModel

struct ReconcileRulesTests {
    @Test func everyCombinationOfLeaseAndLocalTaskHasItsStep() {
        #expect(ReconcileRules.step(isLeased: false, local: nil) == nil)
        #expect(ReconcileRules.step(isLeased: true, local: nil) == .giveBack)
        for state in TaskState.allCases {
            let leased = ReconcileRules.step(isLeased: true, local: state)
            let other = ReconcileRules.step(isLeased: false, local: state)
            #expect(leased == (state.isTerminal ? .report : .follow), "\(state)")
            #expect(other == (state.isTerminal ? .remove : .abandon), "\(state)")
        }
    }

    @Test func aTaskThatIsClaimedAgainIsNotPublishedTwice() {
        for state in TaskState.allCases {
            let expected: ReconcileRules.Step =
                switch state {
                case .completed: .report
                case .failed, .cancelled: .remove
                default: .follow
                }
            #expect(ReconcileRules.step(claimedAgain: state) == expected, "\(state)")
        }
    }

    @Test func aKeyIsReadBackByItsOwnFleetAlone() {
        let key = FleetTaskKey(fleet: "f1", task: 42)
        #expect(key.description == "fleet:f1:42")
        #expect(FleetTaskKey(key.description, fleet: "f1") == key)
        #expect(FleetTaskKey(key.description, fleet: "f") == nil)
        for text in ["", "fleet:f1:", "fleet:f1:0", "fleet:f1:-1", "fleet:f1:+1", "fleet:f1:01", "fleet:f1:9e9", "42"] {
            #expect(FleetTaskKey(text, fleet: "f1") == nil, "\(text)")
        }
    }
}
