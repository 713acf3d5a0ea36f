import XferProtocol

/// Reads the texts of aria2's options: all values are strings on its wire.
enum Aria2Value {
    /// Reads `true` or `false`.
    static func flag(_ text: String) -> Bool? {
        switch text {
        case "true": true
        case "false": false
        default: nil
        }
    }

    /// A number of bytes with `K` or `M`, which are 1024 and its square.
    static func bytes(_ text: String) -> Int64? {
        var digits = text[...]
        var factor: Int64 = 1
        switch digits.last {
        case "K"?, "k"?: factor = 1024
        case "M"?, "m"?: factor = 1024 * 1024
        default: break
        }
        if factor > 1 { digits.removeLast() }
        guard let number = number(digits, 0...Int64.max) else { return nil }
        let (product, isBeyond) = number.multipliedReportingOverflow(by: factor)
        return isBeyond || product > TaskLimits.highestRate ? nil : product
    }

    /// Parses decimal digits without a sign; nil outside `range`.
    static func number(_ text: some StringProtocol, _ range: ClosedRange<Int64>) -> Int64? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int64(text, radix: 10),
            range.contains(number)
        else { return nil }
        return number
    }

    /// Reads a header field in the form `Name: value`.
    static func header(_ text: String) -> (name: String, value: String)? {
        guard let colon = text.firstIndex(of: ":") else { return nil }
        let value = text[text.index(after: colon)...].drop { $0 == " " || $0 == "\t" }
        return (String(text[..<colon]), String(value))
    }
}
