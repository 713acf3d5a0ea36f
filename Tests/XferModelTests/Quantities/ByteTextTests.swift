import Testing
import XferModel

@Suite struct ByteTextTests {
    @Test(
        arguments: [
            (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (10_239, "10 KiB"), (1_048_064, "1.0 MiB"),
            (1_300_000_000, "1.2 GiB"),
            (Int64.max, "8.0 EiB"), (-5, "0 B"),
        ] as [(Int64, String)])
    func sizesHaveAtMostFourDigits(bytes: Int64, text: String) {
        #expect(ByteText.size(bytes) == text)
    }

    @Test func aLimitOfZeroIsPrintedAsNone() {
        #expect(ByteText.limit(0) == "unlimited")
        #expect(ByteText.limit(65_536) == "64 KiB/s")
    }

    @Test(arguments: ["500K", "1.5M", "2Mi", "512Ki", "64K", "1.5Mi", "3G", "250"])
    func aLimitIsPrintedInTheUnitInWhichItWasTyped(text: String) throws {
        let limit = try #require(ByteSizeText.parse(text))
        let unit = text.drop { $0.isNumber || $0 == "." }
        let name = unit == "K" ? "k" : String(unit)
        #expect(ByteText.limit(limit) == "\(text.prefix { !$0.isLetter }) \(name)B/s")
    }

    @Test func aRateIsPrintedInTheUnitsOfItsLimit() {
        #expect(ByteText.rate(499_800, in: ByteText.units(of: 500_000)) == "500 kB/s")
        #expect(ByteText.rate(511_000, in: ByteText.units(of: 524_288)) == "499 KiB/s")
        #expect(ByteText.rate(499_800, in: ByteText.units(of: nil)) == "488 KiB/s")
    }

    @Test(arguments: [Int64.min, .min + 1, -1, 0, 1, .max - 1, .max]) func everyNumberCanBePrinted(number: Int64) {
        #expect(!ByteText.size(number).isEmpty && !ByteText.rate(number).isEmpty && !ByteText.limit(number).isEmpty)
        #expect(!ByteText.size(number, in: .decimal).isEmpty)
    }
}
