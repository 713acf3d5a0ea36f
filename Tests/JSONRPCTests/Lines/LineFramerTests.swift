import NIOCore
import Testing
import XferTestSupport

@testable import JSONRPC

@Suite struct LineFramerTests {
    @Test(arguments: 0..<50 as Range<UInt64>)
    func theFramerFindsTheSameLinesInPiecesOfAnySize(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let lines = (0..<20).map { _ in
            [UInt8](repeating: UInt8(ascii: "a"), count: Int.random(in: 0...300, using: &random))
        }
        let text = [UInt8](lines.joined(separator: [0x0A])) + [0x0A]
        var framer = LineFramer(limit: 300)
        var found: [[UInt8]] = []
        var position = 0
        while position < text.count {
            let length = min(Int.random(in: 1...200, using: &random), text.count - position)
            framer.append(ByteBuffer(bytes: text[position..<position + length]))
            position += length
            while case .line(let line)? = framer.next() { found.append(line) }
        }
        #expect(found == lines)
        #expect(framer.rest().isEmpty)
    }

    @Test func theFramerReportsALineAsTooLongAtTheFirstExtraByte() {
        var framer = LineFramer(limit: 10)
        framer.append(ByteBuffer(string: "0123456789"))
        #expect(framer.next() == nil)
        framer.append(ByteBuffer(string: "\r"))
        #expect(framer.next() == nil)
        framer.append(ByteBuffer(string: "\n"))
        #expect(framer.next() == .line(Array("0123456789".utf8)))
        framer.append(ByteBuffer(string: "0123456789ab"))
        #expect(framer.next() == .tooLong)
    }

    @Test func theFramerReturnsTheBytesBehindTheLastLine() {
        var framer = LineFramer(limit: 10)
        framer.append(ByteBuffer(string: "a\nbc"))
        #expect(framer.next() == .line([0x61]))
        #expect(framer.next() == nil)
        #expect(framer.rest() == [0x62, 0x63])
    }
}
