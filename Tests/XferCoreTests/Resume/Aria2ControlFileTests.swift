import Testing
import XferCore

/// The file that aria2 keeps beside an unfinished download.
@Suite struct Aria2ControlFileTests {
    /// What aria2c 1.36 wrote of 5,243,003 bytes: two of six pieces are complete, the third is in flight.
    private static let written: [UInt8] =
        [0x00, 0x01, 0, 0, 0, 0, 0, 0, 0, 0, 0x00, 0x10, 0, 0, 0, 0, 0, 0, 0x00, 0x50, 0x00, 0x7B]
        + [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x01, 0xC0, 0, 0, 0, 0x01, 0, 0, 0, 0x02, 0x00, 0x10, 0, 0]
        + [0, 0, 0, 0x08, 0xFF, 0xFF, 0xFF, 0x80, 0, 0, 0, 0]

    private func control(pieceLength: UInt8, total: UInt8, field: [UInt8]) -> Aria2ControlFile? {
        Aria2ControlFile(
            [0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, pieceLength, 0, 0, 0, 0, 0, 0, 0, total]
                + [UInt8](repeating: 0, count: 8) + [0, 0, 0, UInt8(clamping: field.count)] + field)
    }

    @Test func theLeadingPiecesOfARealFileAreCounted() throws {
        let file = try #require(Aria2ControlFile(Self.written))
        #expect(file.totalLength == 5_243_003 && file.leadingLength == 2 << 20)
    }

    @Test func piecesBehindTheFirstGapDoNotCount() throws {
        #expect(control(pieceLength: 10, total: 95, field: [0b1101_1111, 0xFF])?.leadingLength == 20)
        #expect(control(pieceLength: 10, total: 95, field: [0b0111_1111, 0xFF])?.leadingLength == 0)
        #expect(control(pieceLength: 10, total: 95, field: [0xFF, 0b1000_0000])?.leadingLength == 90)
        // The last piece is shorter, and the bits behind it mean nothing.
        #expect(control(pieceLength: 10, total: 95, field: [0xFF, 0xFF])?.leadingLength == 95)
    }

    @Test func whatIsNoSuchFileIsNotRead() {
        for count in 0..<33 { #expect(Aria2ControlFile(Self.written.prefix(count)) == nil, "\(count)") }
        var changed = Self.written
        // Version 0 has the byte order of its machine.
        changed[1] = 0
        #expect(Aria2ControlFile(changed) == nil)
        // A torrent's.
        changed = Self.written
        changed[9] = 20
        #expect(Aria2ControlFile(changed) == nil)
        #expect(control(pieceLength: 0, total: 95, field: [0xFF]) == nil)
        #expect(control(pieceLength: 10, total: 0, field: []) == nil)
        #expect(control(pieceLength: 10, total: 95, field: [0xFF]) == nil)
        #expect(control(pieceLength: 10, total: 95, field: [0xFF, 0xFF, 0xFF]) == nil)
        // Lengths beyond what fits.
        changed = Self.written
        for index in 14..<22 { changed[index] = 0xFF }
        #expect(Aria2ControlFile(changed) == nil)
    }
}
