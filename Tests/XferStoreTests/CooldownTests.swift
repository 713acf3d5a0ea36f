import Testing
import XferModel
import XferTestSupport

@testable import XferStore

/// Cooldowns of hosts end with what caused them.
struct CooldownTests {
    private static let host = "a.example"

    @Test(arguments: TaskState.allCases) func aCooldownEndsWhenItsTaskWasCancelledOrHasCompleted(
        state: TaskState
    ) async throws {
        try await withStore { store in
            let until = noon.advanced(by: .seconds(60))
            try await store.write { transaction throws in
                var task = try #require(
                    try transaction.add(1, to: Self.host).first.flatMap { try transaction.task($0) })
                task.state = state
                if state == .waiting { task.wait = Wait(.retry, until: until) }
                try transaction.update(task)
                let cause = HostCooldown.Cause(task)
                try transaction.setCooldown(host: Self.host, until: until, cause: cause)
                #expect(
                    try transaction.hostCooldown(of: Self.host)
                        == HostCooldown(host: Self.host, until: until, cause: cause))
                let ends = [.cancelled, .completed].contains(state)
                #expect(try transaction.endedCooldowns(now: noon) == (ends ? [Self.host] : []))
                #expect(try transaction.endedCooldowns(now: until) == [Self.host])
                guard state.isTerminal else { return }
                try transaction.deleteTask(task.id)
                #expect(try transaction.endedCooldowns(now: noon) == [Self.host])
            }
        }
    }

    @Test func onlyWaitingTasksForOtherURLsAreFoundAsRefused() async throws {
        try await withStore { store in
            try await store.write { transaction throws in
                let tasks = try (0..<4).map { index in
                    try transaction.insertTask(
                        specification(Self.host, path: "/\(index)"), state: .queued, at: noon)
                }
                let until = noon.advanced(by: .seconds(60))
                for (index, wait) in [Wait(.retry, until: until), Wait(.retry, until: noon), Wait(.network)]
                    .enumerated()
                {
                    var task = tasks[index + 1]
                    task.state = .waiting
                    task.wait = wait
                    task.error = TransferError(.httpStatus, "busy", isRetriable: true, httpStatus: 503)
                    try transaction.update(task)
                }
                let asked = tasks[0].specification.request.url
                #expect(try transaction.refused(beside: asked, after: noon).map(\.id) == [tasks[1].id])
                // Of the same URL, and of another host.
                let same = tasks[1].specification.request.url
                #expect(try transaction.refused(beside: same, after: noon).isEmpty)
                let other = HTTPURL(scheme: .https, host: "b.example", port: 443, target: asked.target)
                #expect(try transaction.refused(beside: other, after: noon).isEmpty)
            }
        }
    }
}
