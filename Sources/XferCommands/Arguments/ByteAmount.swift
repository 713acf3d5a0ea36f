import ArgumentParser
import XferModel

/// A size or a rate as people write it: `500`, `64K`, `1.5M`, `256Mi`; `K M G T` are powers of 1000, `Ki Mi Gi Ti` of 1024.
struct ByteAmount: Hashable, Sendable {
    let bytes: Int64

    init(bytes: Int64) { self.bytes = bytes }

    /// Nil unless the text is a non-negative number with an optional unit that fits 63 bits. A trailing `B` or `B/s` is
    /// accepted and ignored. Units are case-insensitive: `k` and `K` are both 1000.
    init?(parsing text: String) {
        let digits = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        guard let number = DecimalNumber(digits), let factor = Self.factor(text[digits.endIndex...]) else { return nil }
        guard let bytes = number.times(factor) else { return nil }
        self.bytes = bytes
    }

    private static func factor(_ unit: Substring) -> Int64? {
        var name = unit.lowercased()
        if name.hasPrefix(" ") { name.removeFirst() }
        if name.hasSuffix("/s") { name.removeLast(2) }
        if name.hasSuffix("b") { name.removeLast() }
        switch name {
        case "": return 1
        case "k": return 1000
        case "m": return 1_000_000
        case "g": return 1_000_000_000
        case "t": return 1_000_000_000_000
        case "ki": return 1 << 10
        case "mi": return 1 << 20
        case "gi": return 1 << 30
        case "ti": return 1 << 40
        default: return nil
        }
    }
}

extension ByteAmount: ExpressibleByArgument {
    init?(argument: String) { self.init(parsing: argument) }
}

/// A non-negative decimal number without exponent, exact: `1`, `1.5`, `.25`.
struct DecimalNumber: Hashable, Sendable {
    private let digits: Int64
    /// Ten to the number of decimals.
    private let scale: Int64

    /// Nil unless there is at least one digit and at most nine decimals.
    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), parts.joined().utf8.allSatisfy({ (48...57).contains($0) }) else {
            return nil
        }
        let decimals = parts.count == 2 ? parts[1].utf8.count : 0
        guard decimals <= 9, let digits = Int64(parts.joined(), radix: 10) else { return nil }
        self.digits = digits
        scale = (0..<decimals).reduce(1) { scale, _ in scale * 10 }
    }

    /// The product rounded down, nil when it does not fit.
    func times(_ factor: Int64) -> Int64? {
        let (whole, overflow) = (digits / scale).multipliedReportingOverflow(by: factor)
        let fraction = Int64(saturating: Double(digits % scale) / Double(scale) * Double(factor))
        let (sum, tooMuch) = whole.addingReportingOverflow(fraction)
        return overflow || tooMuch ? nil : sum
    }

    var value: Double { Double(digits) / Double(scale) }
}
