import XferModel

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
