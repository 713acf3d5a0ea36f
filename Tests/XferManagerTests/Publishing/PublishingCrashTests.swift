import NIOConcurrencyHelpers
import Testing
import XferTestSupport

/// Publishing in a real directory with a real database, while every operation and every commit may fail or be the last.
struct PublishingCrashTests {
    private static let blocks = 0..<UInt64(Campaign.rounds(16) * Campaign.soakFactor)

    @Test(arguments: blocks)
    func whateverFailsOrKillsEachFileHasItsNameOnceAndEachTaskEndsOnce(block: UInt64) async throws {
        for seed in block * 15..<(block + 1) * 15 {
            let world = try PublishingCrashWorld(seed: seed)
            try await world.run()
            let problems = world.problems.withLockedValue(\.self)
            guard problems.isEmpty else {
                Issue.record("seed \(seed): \(problems)\n\(world.misfortune.log.joined(separator: "\n"))")
                return
            }
        }
    }
}
