/// A JSON number that is no 64-bit integer, in its original notation (RFC 8259 §6), because a double cannot represent
/// every such number.
///
/// Numbers are equal if their decimal values are, whatever their notation: `1.0`, `1` and `1e0`.
public struct JSONNumber: Sendable {
    /// The number as JSON; `null` for infinities and NaN, which JSON does not have.
    public let text: String

    /// Creates the number with the fewest digits that read back as the same double.
    public init(_ value: Double) { text = value.isFinite ? value.description : "null" }

    /// - Parameter text: a number that follows JSON's grammar.
    init(written text: String) { self.text = text }

    /// The nearest double; NaN if there is none.
    public var value: Double { Double(text) ?? .nan }

    /// The digits without zeros at either end, and the power of ten of the last one.
    private struct Decimal: Hashable {
        var isNegative = false
        var digits: [UInt8] = []
        /// The power of ten of the last digit, or nil if it does not fit an `Int`. Then the texts are compared.
        var exponent: Int? = 0
        var text: String?
    }

    private var decimal: Decimal {
        var decimal = Decimal()
        var fraction = 0
        var isBehindPoint = false
        var rest = text.utf8[...]
        if rest.first == UInt8(ascii: "-") {
            decimal.isNegative = true
            rest = rest.dropFirst()
        }
        while let byte = rest.first, byte | 0x20 != UInt8(ascii: "e") {
            rest = rest.dropFirst()
            if byte == UInt8(ascii: ".") {
                isBehindPoint = true
                continue
            }
            if isBehindPoint { fraction += 1 }
            if byte != UInt8(ascii: "0") || !decimal.digits.isEmpty { decimal.digits.append(byte) }
        }
        let zeros = decimal.digits.reversed().prefix { $0 == UInt8(ascii: "0") }.count
        decimal.digits.removeLast(zeros)
        if decimal.digits.isEmpty { return Decimal() }
        let written = rest.isEmpty ? 0 : Int(String(decoding: rest.dropFirst(), as: UTF8.self), radix: 10)
        guard let written else {
            (decimal.exponent, decimal.text) = (nil, text)
            return decimal
        }
        let (sum, hasOverflown) = written.addingReportingOverflow(zeros - fraction)
        if hasOverflown { (decimal.exponent, decimal.text) = (nil, text) } else { decimal.exponent = sum }
        return decimal
    }
}

extension JSONNumber: Hashable {
    public static func == (left: JSONNumber, right: JSONNumber) -> Bool {
        left.text == right.text || left.decimal == right.decimal
    }

    public func hash(into hasher: inout Hasher) { hasher.combine(decimal) }
}

extension JSONNumber: ExpressibleByFloatLiteral, ExpressibleByIntegerLiteral {
    public init(floatLiteral value: Double) { self.init(value) }
    public init(integerLiteral value: Int64) { self.init(written: String(value)) }
}
