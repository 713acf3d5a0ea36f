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

    @Test(arguments: [("500K", "488 KiB/s"), ("2Mi", "2.0 MiB/s"), ("512Ki", "512 KiB/s"), ("2M", "1.9 MiB/s")])
    func aLimitIsPrintedInTheUnitsOfRatesHoweverItWasTyped(text: String, printed: String) throws {
        let limit = try #require(ByteSizeText.parse(text))
        #expect(ByteText.limit(limit) == printed && ByteText.rate(limit) == printed)
    }

    @Test(arguments: [Int64.min, .min + 1, -1, 0, 1, .max - 1, .max]) func everyNumberCanBePrinted(number: Int64) {
        #expect(!ByteText.size(number).isEmpty && !ByteText.rate(number).isEmpty && !ByteText.limit(number).isEmpty)
    }
}
