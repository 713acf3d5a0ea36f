/// Secrets that cannot be guessed.
public enum RandomText {
    /// A random text of 256 bits from the kernel (getrandom(2)), as 64 hexadecimal digits.
    public static func secret() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<4).map { _ in
            let word = String(generator.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - word.count) + word
        }.joined()
    }
}
