import Testing
import XferCore
import XferTestSupport

/// What a hook writes becomes lines, within limits.
struct HookOutputTests {
    private func limits(line: Int = 8, total: Int = 40) -> HookOutput.Limits {
        var limits = HookOutput.Limits()
        limits.lineBytes = line
        limits.totalBytes = total
        return limits
    }

    @Test func linesAreAssembledFromPiecesOfAnySize() {
        var output = HookOutput()
        #expect(output.onBytes(Array("on".utf8)) == [])
        #expect(output.onBytes(Array("e\ntwo\n\nthr".utf8)) == ["one", "two", ""])
        #expect(output.onEnd() == "thr")
        #expect(output.onEnd() == nil)
        #expect(output.discarded == 0)
    }

    @Test func aLongLineIsCutAndTheNextIsNot() {
        var output = HookOutput(limits())
        #expect(output.onBytes(Array("0123456789ab\nnext\n".utf8)) == ["01234567…", "next"])
        #expect(output.discarded == 4)
    }

    @Test func outputBeyondTheTotalLimitIsDiscardedAndCounted() {
        var output = HookOutput(limits(line: 8, total: 10))
        #expect(output.onBytes(Array("1234567\nabc".utf8)) == ["1234567", "ab"])
        #expect(output.onBytes(Array("more\nand more\n".utf8)) == [])
        #expect(output.onEnd() == nil)
        #expect(output.discarded == 15)
    }

    @Test func invalidUTF8IsShownAsReplacementCharacters() {
        var output = HookOutput()
        #expect(output.onBytes([0xff, 0x41, 0x0a]) == ["\u{FFFD}A"])
    }

    /// Cut anywhere, the lines are the same.
    @Test(arguments: 0..<50) func theSizeOfPiecesDoesNotChangeTheLines(seed: Int) {
        var random = SplitMix64(seed: UInt64(seed))
        let bytes = (0..<200).map { _ in UInt8.random(in: 0..<12, using: &random) == 0 ? 10 : UInt8(ascii: "x") }
        var whole = HookOutput(limits(line: 5, total: 150))
        let lines = whole.onBytes(bytes) + [whole.onEnd()].compactMap(\.self)
        var pieces = HookOutput(limits(line: 5, total: 150))
        var found: [String] = []
        var start = 0
        while start < bytes.count {
            let end = min(bytes.count, start + Int.random(in: 1...20, using: &random))
            found += pieces.onBytes(bytes[start..<end])
            start = end
        }
        found += [pieces.onEnd()].compactMap(\.self)
        #expect(found == lines && pieces.discarded == whole.discarded)
    }
}
