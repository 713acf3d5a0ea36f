import Testing
import XferCore
import XferModel
import XferTestSupport

/// Whatever a server does, it holds every byte of an upload that the client calls complete.
///
/// The client sends every byte at the offset that the server has named.
///
/// The server is a model that breaks off, refuses, forgets, sets limits, and talks nonsense. It stores honestly,
/// and the client can detect each of its lies: an offset that is possible is true.
@Suite struct UploadPropertyTests {
    @Test(arguments: UInt64(0)..<20) func tusUploadsToALyingServerLoseAndReorderNoByte(block: UInt64) {
        for seed in block * 250..<(block + 1) * 250 {
            check(UploadWorld(seed: seed, isTus: true, troubles: .all), seed: seed)
        }
    }

    @Test(arguments: UInt64(0)..<20) func resumableUploadsToALyingServerLoseAndReorderNoByte(block: UInt64) {
        for seed in block * 250..<(block + 1) * 250 {
            check(UploadWorld(seed: seed, isTus: false, troubles: .all), seed: seed)
        }
    }

    @Test(arguments: [true, false]) func uploadsToAServerThatOnlyBreaksOffComplete(isTus: Bool) {
        for seed in UInt64(0)..<500 {
            var world = UploadWorld(seed: seed, isTus: isTus, troubles: .breaks)
            world.run()
            if world.outcome != .completed || !world.holdsSource || !world.violations.isEmpty {
                Issue.record("seed \(seed): \(world.outcome)\n\(world.log.joined(separator: "\n"))")
                return
            }
        }
    }

    private func check(_ made: UploadWorld, seed: UInt64) {
        var world = made
        world.run()
        let isWhole = world.outcome != .completed || world.holdsSource
        if !isWhole || !world.violations.isEmpty {
            Issue.record("seed \(seed): \(world.outcome) \(world.violations)\n\(world.log.joined(separator: "\n"))")
        }
    }
}
