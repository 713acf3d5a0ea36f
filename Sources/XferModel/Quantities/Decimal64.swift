/// Digits only, as HTTP writes lengths: no sign, no white space, and at most `ByteCount.greatest`, so that sums of
/// what is parsed cannot overflow.
public enum Decimal64 {
    public static func parse(_ text: some StringProtocol) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        guard let value = Int64(text, radix: 10), value <= ByteCount.greatest else { return nil }
        return value
    }
}
