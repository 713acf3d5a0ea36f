import Testing
import XferCore
import XferModel

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

    @Test func theCompletePiecesOfARealFileAreCounted() throws {
        let file = try #require(Aria2ControlFile(Self.written))
        #expect(file.totalLength == 5_243_003 && file.segments == [Segment(start: 0, committed: 2 << 20)])
    }

    @Test(
        arguments: [
            ([0b1101_1111, 0xFF], [0, 20, 30, 95]), ([0b0111_1111, 0xFF], [10, 95]), ([0xFF, 0b1000_0000], [0, 90]),
            // The last piece is shorter, and the bits behind it mean nothing.
            ([0, 0b0111_1111], [90, 95]), ([0xFF, 0xFF], [0, 95]), ([0, 0], []), ([0b1000_0001, 0], [0, 10, 70, 80]),
        ] as [([UInt8], [Int64])])
    func piecesThatTouchMakeUpOneSegment(field: [UInt8], ends: [Int64]) {
        let segments = stride(from: 0, to: ends.count, by: 2).map { Segment(start: ends[$0], committed: ends[$0 + 1]) }
        #expect(control(pieceLength: 10, total: 95, field: field)?.segments == segments)
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
