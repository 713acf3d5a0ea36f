import Testing
import XferModel
import XferTestSupport

@testable import XferManager

/// What a start makes of the bytes in the file that a crash writes.
struct CrashRecordTests {
    private func bytes(_ words: [Int64]) -> [UInt8] {
        words.flatMap { word in (0..<8).map { UInt8(truncatingIfNeeded: word >> (8 * $0)) } }
    }

    private let magic: Int64 = 0x6873_7263_7265_6678

    @Test func aCrashRecordNamesSignalProcessAndTasks() throws {
        let record = try #require(CrashRecord(bytes([magic, 11, 4711, 99, 2, 7, 8, 9])))
        #expect(record.signal == 11 && record.pid == 4711 && record.time == 99)
        #expect(record.tasks == [TaskID(7), TaskID(8)])
        #expect(record.signalName == "SIGSEGV")
    }

    @Test(
        arguments: [
            [], [0, 0, 0, 0, 0], [1, 11, 1, 1, 0], [0x6873_7263_7265_6678, 11, 1, 1],
            [0x6873_7263_7265_6678, 11, 1, 1, 1], [0x6873_7263_7265_6678, 11, 1, 1, -1],
            [0x6873_7263_7265_6678, 11, 1, 1, .max], [0x6873_7263_7265_6678, 11, 1, 1, .min],
            [0x6873_7263_7265_6678, .max, 1, 1, 0],
        ] as [[Int64]])
    func bytesThatNoCrashHandlerWroteAreRejected(words: [Int64]) { #expect(CrashRecord(bytes(words)) == nil) }

    @Test func idsThatNoTaskHasAreLeftOut() throws {
        let record = try #require(CrashRecord(bytes([magic, 6, 1, 1, 4, 0, -5, .min, 3])))
        #expect(record.tasks == [TaskID(3)])
    }

    @Test func randomBytesNeverTrapTheParser() {
        var random = SplitMix64(seed: 17)
        for _ in 0..<10_000 {
            var words = (0..<Int.random(in: 0..<12, using: &random)).map { _ in
                Int64.random(in: .min ... .max, using: &random)
            }
            if !words.isEmpty, Bool.random(using: &random) { words[0] = magic }
            _ = CrashRecord(bytes(words))
        }
    }
}
