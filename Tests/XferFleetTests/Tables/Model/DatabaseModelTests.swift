import Testing
import XferTestSupport

/// PostgreSQL against the model: after every step each task is in the state that the model says, and all counts are right.
@Suite struct DatabaseModelTests {
    private static let parts: UInt64 = PureModelTests.isSoak ? 4 : 2

    @Test(arguments: 0..<parts)
    func theTablesFollowTheRulesForTwoThousandSteps(part: UInt64) async throws {
        // Keeps the server from ending between two seeds.
        let server = try await PostgresDatabase()
        defer { withExtendedLifetime(server) {} }
        for seed in stride(from: part, to: PureModelTests.isSoak ? 100 : 2, by: Int(Self.parts)) {
            var run = try await DatabaseRun(seed: seed)
            for step in 0..<1000 {
                let name = try await run.step()
                let wrong = try await run.differences()
                guard wrong.isEmpty else {
                    Issue.record("seed \(seed), step \(step), \(name): \(wrong)")
                    return
                }
            }
            #expect(run.failovers > 0)
            try await run.end()
            if PureModelTests.isSoak { print("seed \(seed): 1,000 steps, \(run.failovers) failovers") }
        }
    }
}
