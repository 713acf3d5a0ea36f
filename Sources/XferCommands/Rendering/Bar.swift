import XferModel

/// A bar that fills from left to right, in eighths of a column where the terminal can draw them.
struct Bar: Sendable {
    let usesUnicode: Bool

    /// - Parameter fraction: 0 … 1, clamped; nil draws an empty bar for a length that is not known.
    func text(_ fraction: Double?, width: Int) -> String {
        guard width > 0 else { return "" }
        let fraction = min(1, max(0, fraction ?? 0))
        return usesUnicode ? blocks(fraction, width) : ascii(fraction, width)
    }

    private func blocks(_ fraction: Double, _ width: Int) -> String {
        let eighths = Int(saturating: fraction * Double(width) * 8)
        let full = eighths / 8
        let partial = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8]
        let rest = width - full - (partial.isEmpty ? 0 : 1)
        return String(repeating: "█", count: full) + partial + String(repeating: "░", count: rest)
    }

    private func ascii(_ fraction: Double, _ width: Int) -> String {
        let full = Int(saturating: fraction * Double(width))
        let head = full > 0 && full < width ? ">" : ""
        return String(repeating: "=", count: full - head.count) + head + String(repeating: "-", count: width - full)
    }

    /// Whole percents, rounded down: 100 % means all of it.
    static func percent(_ received: Int64, of total: Int64?) -> String {
        guard let total else { return "" }
        guard total > 0 else { return "100%" }
        return "\(Int(saturating: min(1, max(0, Double(received) / Double(total))) * 100))%"
    }
}
