import StrictJSON
import Testing
import XferModel
import XferProtocol

@testable import XferAria2

/// What states and verbs of aria2 are to tasks.
struct Aria2StateTests {
    private static let gid = Aria2GID(TaskID(1), seed: Aria2Seed(storeID: "a"))

    @Test(arguments: TaskState.allCases)
    func eachStateHasOneOfAria2s(state: TaskState) {
        let expected: Aria2State =
            switch state {
            case .queued, .waiting: .waiting
            case .running: .active
            case .paused, .staged: .paused
            case .completed: .complete
            case .failed: .error
            case .cancelled: .removed
            }
        #expect(Aria2State(state) == expected)
        #expect(Aria2State(state).isStopped == state.isTerminal)
    }

    @Test func eachStateIsInExactlyOneList() {
        for state in TaskState.allCases {
            let lists = [[.running], [.queued], Aria2State.suspended, Aria2State.stopped]
            #expect(lists.count { $0.contains(state) } == 1, "\(state)")
        }
    }

    @Test(arguments: Aria2Verb.allCases, TaskState.allCases)
    func theTableOfVerbsIsAsDocumented(verb: Aria2Verb, state: TaskState) {
        let expected: Aria2Verb.Effect =
            switch verb {
            case .pause: [.queued, .waiting, .running].contains(state) ? .call : .refused
            case .unpause: [.paused, .waiting].contains(state) ? .call : .refused
            case .remove: state.isTerminal ? .refused : .call
            case .removeResult: state.isTerminal ? .hide : .refused
            }
        #expect(verb.effect(on: state) == expected)
        #expect(verb.refusal(Self.gid).message.contains(Self.gid.description))
    }

    @Test(arguments: FailureReason.allCases)
    func eachFailureHasANumberOfAria2s(reason: FailureReason) {
        #expect((1...32).contains(Aria2ErrorNumber.number(of: reason)))
    }

    @Test func statusesOfServersDecideAboutTheNumber() {
        let numbers = [404: 3, 410: 3, 401: 24, 407: 24, 503: 29, 500: 29, 418: 22]
        for (status, number) in numbers {
            #expect(Aria2ErrorNumber.number(of: .httpStatus, status: status) == number)
        }
        #expect(Aria2ErrorNumber.number(of: .checksumMismatch) == 32)
        #expect(Aria2ErrorNumber.number(of: .dnsFailure) == 19)
        #expect(Aria2ErrorNumber.number(of: nil) == 1)
    }

    @Test func gidsAreABijectionOfTheIds() {
        let (one, other) = (Aria2Seed(storeID: "5f0c6a52c8e94d0b"), Aria2Seed(storeID: "another"))
        var seen: Set<String> = []
        for id in [1, 2, 3, 1000, 1 << 40, 1 << 53].map({ TaskID($0) }) {
            let gid = Aria2GID(id, seed: one)
            #expect(gid.description.utf8.count == 16)
            #expect(gid.task(seed: one) == id)
            #expect(gid.task(seed: other) != id)
            #expect(Aria2GID(gid.description) == gid)
            seen.insert(String(gid.description.prefix(6)))
        }
        #expect(seen.count == 6, "the first digits tell tasks apart")
    }

    @Test func onlySixteenHexadecimalDigitsAreAGID() {
        #expect(Aria2GID("2089b05ecca3d829")?.description == "2089b05ecca3d829")
        #expect(Aria2GID("2089B05ECCA3D829")?.description == "2089b05ecca3d829")
        for text in [
            "", "0000000000000000", "2089b05ecca3d82", "2089b05ecca3d8290", "+089b05ecca3d829", "２089b05ecca3d829",
        ] {
            #expect(Aria2GID(text) == nil, "\(text)")
        }
        #expect(Aria2GID.isPrefix("2089") && !Aria2GID.isPrefix("") && !Aria2GID.isPrefix("xyz"))
    }

    @Test func slicesAreCountedAsAria2Counts() {
        let list = ["a", "b", "c", "d"]
        func slice(_ offset: Int64, _ count: Int64) -> [String] {
            Aria2Slice(offset: offset, count: count).apply(to: list)
        }
        #expect(slice(0, 2) == ["a", "b"])
        #expect(slice(3, 9) == ["d"])
        #expect(slice(9, 1) == [])
        #expect(slice(-1, 2) == ["d", "c"])
        #expect(slice(-3, 9) == ["b", "a"])
        #expect(slice(-5, 1) == [])
        #expect(slice(.min, .max) == [] && slice(.max, .max) == [] && slice(0, -1) == [])
        #expect(Aria2Slice(offset: .max, count: .max).needed == 11_000)
    }

    @Test func positionsStayWithinTheQueue() {
        #expect(Aria2Position.set.index(2, from: 0, count: 5) == 2)
        #expect(Aria2Position.current.index(-1, from: 3, count: 5) == 2)
        #expect(Aria2Position.end.index(-1, from: 0, count: 5) == 3)
        #expect(Aria2Position.set.index(.max, from: 0, count: 5) == 4)
        #expect(Aria2Position.current.index(.max, from: 3, count: 5) == 4)
        #expect(Aria2Position.end.index(.min, from: 0, count: 0) == 0)
    }
}
