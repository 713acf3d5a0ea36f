import StrictJSON
import Testing
import XferTestSupport

/// What holds for any input, tried on random ones. A failure prints its seed.
@Suite struct PropertyTests {
    @Test(arguments: 0..<20 as Range<UInt64>)
    func randomValuesParseBackFromTheirText(seed: UInt64) throws {
        var random = SplitMix64(seed: seed)
        for _ in 0..<200 {
            let value = JSONValue.random(depth: 5, using: &random)
            #expect(try JSONValue(parsing: value.text) == value)
            #expect(try JSONValue(parsing: value.prettyText) == value)
            #expect(!value.text.utf8.contains(UInt8(ascii: "\n")))
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func randomBytesNeverCrashTheParser(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        let alphabet = Array(#"{}[]",:\u0019e+-.truefalsn "#.utf8) + [0xC3, 0xA9, 0xED, 0xFF, 0x0A, 0x00]
        for _ in 0..<2_000 {
            let bytes = (0..<Int.random(in: 0...60, using: &random)).map { _ in
                alphabet.randomElement(using: &random) ?? 0
            }
            expectHonesty(about: bytes)
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func damagedTextNeverCrashesTheParser(seed: UInt64) {
        var random = SplitMix64(seed: seed)
        for _ in 0..<300 {
            var bytes = Array(JSONValue.random(depth: 4, using: &random).text.utf8)
            for _ in 0...Int.random(in: 0...3, using: &random) where !bytes.isEmpty {
                let place = Int.random(in: 0..<bytes.count, using: &random)
                if Bool.random(using: &random) {
                    bytes.remove(at: place)
                } else {
                    bytes[place] = UInt8.random(in: 0...255, using: &random)
                }
            }
            expectHonesty(about: bytes)
        }
    }

    /// Either a value that means the same when written and read again, or an error whose offset lies within the text.
    private func expectHonesty(about bytes: [UInt8]) {
        do throws(JSONSyntaxError) {
            let value = try JSONValue(parsing: bytes)
            let again = try? JSONValue(parsing: value.text)
            #expect(again == value)
        } catch {
            #expect((0...bytes.count).contains(error.offset))
        }
    }
}

extension JSONValue {
    fileprivate static func random(depth: Int, using random: inout SplitMix64) -> JSONValue {
        switch Int.random(in: 0..<(depth > 0 ? 9 : 6), using: &random) {
        case 0: return .null
        case 1: return .bool(Bool.random(using: &random))
        case 2: return .integer(Int64(bitPattern: random.next()))
        case 3: return .number(JSONNumber(Double.random(in: -1e9...1e9, using: &random)))
        case 4, 5: return .string(randomText(using: &random))
        case 6:
            return .array(
                (0..<Int.random(in: 0...6, using: &random)).map { _ in .random(depth: depth - 1, using: &random) })
        default:
            var object = JSONObject()
            for _ in 0..<Int.random(in: 0...24, using: &random) {
                object[randomText(using: &random)] = .random(depth: depth - 2, using: &random)
            }
            return .object(object)
        }
    }

    private static func randomText(using random: inout SplitMix64) -> String {
        var text = ""
        for _ in 0..<Int.random(in: 0...12, using: &random) {
            let range: ClosedRange<UInt32> = Bool.random(using: &random) ? 0...0x7F : 0...0x10FFFF
            if let scalar = Unicode.Scalar(UInt32.random(in: range, using: &random)) {
                text.unicodeScalars.append(scalar)
            }
        }
        return text
    }
}
