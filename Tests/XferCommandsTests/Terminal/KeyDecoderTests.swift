import Testing
import XferTestSupport

@testable import XferCommands

@Suite struct KeyDecoderTests {
    /// What terminals send, and which keys these are.
    private static let sequences: [(bytes: String, keys: [Key])] = [
        ("a", [.character("a")]), ("ü", [.character("ü")]), ("語", [.character("語")]), ("👍", [.character("👍")]),
        (" ", [.character(" ")]), ("~", [.character("~")]), ("\r", [.enter]), ("\n", [.enter]), ("\t", [.tab]),
        ("\u{7f}", [.backspace]), ("\u{8}", [.backspace]), ("\u{3}", [.control("c")]), ("\u{15}", [.control("u")]),
        ("\u{0}", []), ("\u{1c}", []),
        ("\u{1b}[A", [.up]), ("\u{1b}[B", [.down]), ("\u{1b}[C", [.right]), ("\u{1b}[D", [.left]),
        ("\u{1b}OA", [.up]), ("\u{1b}OB", [.down]), ("\u{1b}OC", [.right]), ("\u{1b}OD", [.left]),
        ("\u{1b}[H", [.home]), ("\u{1b}[F", [.end]), ("\u{1b}OH", [.home]), ("\u{1b}OF", [.end]),
        ("\u{1b}[1~", [.home]), ("\u{1b}[4~", [.end]), ("\u{1b}[7~", [.home]), ("\u{1b}[8~", [.end]),
        ("\u{1b}[2~", [.insert]), ("\u{1b}[3~", [.delete]), ("\u{1b}[5~", [.pageUp]), ("\u{1b}[6~", [.pageDown]),
        ("\u{1b}[1;5A", [.up]), ("\u{1b}[5;3~", [.pageUp]), ("\u{1b}OM", [.enter]),
        ("\u{1b}OP", [.function(1)]), ("\u{1b}OS", [.function(4)]), ("\u{1b}[11~", [.function(1)]),
        ("\u{1b}[15~", [.function(5)]), ("\u{1b}[17~", [.function(6)]), ("\u{1b}[24~", [.function(12)]),
        ("\u{1b}[[A", [.function(1)]), ("\u{1b}[[E", [.function(5)]), ("\u{1b}[[Z", []),
        // With Alt, and sequences that are no keys: focus, mouse, paste, answers of the terminal, an endless sequence.
        ("\u{1b}x", []), ("\u{1b}ü", []), ("\u{1b}[I", []), ("\u{1b}[<0;12;34M", []), ("\u{1b}[200~", []),
        ("\u{1b}[?62;c", []), ("\u{1b}]11;rgb:00/00/00\u{7}", []), ("\u{1b}P1+r\u{1b}\\", []), ("\u{1b}[999~", []),
        ("\u{1b}[" + String(repeating: "1;", count: 500) + "A", []), ("\u{1b}[99999999999999999999~", []),
        ("\u{1b}\u{1b}[A", [.escape, .up]), ("\u{1b}[1\u{1b}[B", [.down]), ("\u{1b}[\u{3}", [.control("c")]),
    ]

    private static func decode(_ portions: [ArraySlice<UInt8>]) -> [Key] {
        var decoder = KeyDecoder()
        return portions.flatMap { decoder.decode($0) }
    }

    @Test func everySequenceIsItsKey() {
        for (bytes, keys) in Self.sequences {
            #expect(Self.decode([Array(bytes.utf8)[...]]) == keys, "\(bytes.debugDescription)")
        }
    }

    @Test func aSequenceSplitAnywhereIsTheSameKey() {
        for (bytes, keys) in Self.sequences {
            let bytes = Array(bytes.utf8)
            for split in 0...bytes.count {
                #expect(Self.decode([bytes[..<split], bytes[split...]]) == keys, "\(bytes) at \(split)")
            }
            #expect(Self.decode(bytes.indices.map { bytes[$0...$0] }) == keys, "\(bytes) one by one")
        }
    }

    @Test func keysAfterAnySequenceAreRead() {
        for (bytes, keys) in Self.sequences {
            let typed = Array((bytes + "q\u{1b}[A").utf8)
            #expect(Self.decode([typed[...]]) == keys + [.character("q"), .up], "\(bytes.debugDescription)")
        }
    }

    @Test func escapeAloneIsAKeyAfterAPause() {
        var decoder = KeyDecoder()
        #expect(decoder.decode([0x1b]) == [] && decoder.isAfterEscape)
        #expect(decoder.onPause() == [.escape] && !decoder.isAfterEscape)
        #expect(decoder.decode("[A".utf8) == [.character("["), .character("A")])
    }

    @Test func aPauseWithinASequenceOrACharacterChangesNothing() {
        for (text, key) in [("\u{1b}[A", Key.up), ("語", .character("語"))] {
            let bytes = Array(text.utf8)
            var decoder = KeyDecoder()
            #expect(decoder.decode(bytes.dropLast()) == [])
            #expect(decoder.onPause() == [])
            #expect(decoder.decode(bytes.suffix(1)) == [key])
        }
    }

    @Test func brokenUTF8IsDroppedAndTheNextKeyRead() {
        for broken: [UInt8] in [
            [0xff], [0x80], [0xc3], [0xe8, 0xaa], [0xf0, 0x9f, 0x91], [0xed, 0xa0, 0x80], [0xc0, 0x80],
        ] {
            #expect(Self.decode([(broken + [0x71])[...]]) == [.character("q")], "\(broken)")
        }
    }

    @Test func everyByteAfterEveryTwoBytesLeavesADecoderThatReadsOn() {
        for first in UInt8.min...UInt8.max {
            for second: UInt8 in [0x1b, 0x5b, 0x4f, 0x5d, 0x20, 0x41, 0x7e, 0xc3, 0xff] {
                var decoder = KeyDecoder()
                _ = decoder.decode([0x1b, second, first])
                // Ends whatever may be open: a string, a sequence, a character.
                _ = decoder.decode([0x07, 0x1b, 0x5c, 0x41, 0x41])
                #expect(decoder.decode("q".utf8) == [.character("q")], "\(second) \(first)")
            }
        }
    }

    @Test(arguments: 1...20 as ClosedRange<UInt64>) func anyBytesAreTheSameKeysInAnyPortions(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let alphabet = Array("\u{1b}\u{1b}[O];1~AMq語\u{7}".utf8)
        let bytes = (0..<400).map { _ in
            Bool.random(using: &random)
                ? UInt8.random(in: .min ... .max, using: &random) : alphabet.randomElement(using: &random) ?? 0
        }
        var portions: [ArraySlice<UInt8>] = []
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = Int.random(in: 1...7, using: &random)
            portions.append(rest.prefix(count))
            rest = rest.dropFirst(count)
        }
        #expect(Self.decode(portions) == Self.decode([bytes[...]]))
    }
}

@Suite struct TypedLineTests {
    @Test func keysEditTheTypedText() {
        var line = TypedLine("ab")
        #expect(line.onKey(.character("é")) && line.text == "abé")
        #expect(line.onKey(.backspace) && line.text == "ab")
        #expect(line.onKey(.character(" ")) && line.onKey(.character("c")) && line.onKey(.control("w")))
        #expect(line.text == "ab ")
        #expect(line.onKey(.control("u")) && line.text.isEmpty && line.onKey(.backspace))
        #expect(!line.onKey(.up) && !line.onKey(.enter) && !line.onKey(.escape))
    }

    @Test func typedTextIsBounded() {
        var line = TypedLine()
        for _ in 0..<1000 { _ = line.onKey(.character("x")) }
        #expect(line.text.count == TypedLine.limit)
    }
}
