import XferModel

/// Rates of the last minutes, one a second. It reads no clock and makes no calls: the caller passes the daemon's
/// figures.
struct RateHistory: Sendable {
    /// Bytes per second, oldest first.
    private(set) var rates: [Int64] = []
    private var last: ContinuousClock.Instant?

    /// Seconds that are kept.
    static let capacity = 240
    /// The longest gap between two samples that is filled with the later rate.
    private static let longestGap = 5

    /// Records the present rate. Seconds without a sample are filled: with the rate if they are few, else with 0,
    /// because then nothing moved.
    mutating func record(_ rate: Int64, at now: ContinuousClock.Instant) {
        guard let last else {
            rates = [rate]
            self.last = now
            return
        }
        // Half a second early is in time: samples come once a second, more or less.
        let seconds = Int(clamping: (last.duration(to: now) + .milliseconds(500)).components.seconds)
        guard seconds > 0 else {
            if !rates.isEmpty { rates[rates.count - 1] = rate }
            return
        }
        let missing = min(seconds - 1, Self.capacity)
        rates += Array(repeating: seconds <= Self.longestGap ? rate : 0, count: missing)
        rates.append(rate)
        if rates.count > Self.capacity { rates.removeFirst(rates.count - Self.capacity) }
        self.last = now
    }

    var peak: Int64 { rates.max() ?? 0 }

    /// True if nothing moved in the last seconds.
    func isQuiet(for seconds: Int) -> Bool { rates.suffix(seconds).allSatisfy { $0 == 0 } }
}

/// Numbers as a row of small bars, one column each, the newest at the right.
struct Sparkline: Sendable {
    let usesUnicode: Bool

    /// Returns exactly `width` columns, the highest bar for the highest of the numbers shown; blank where there are
    /// none.
    func text(_ values: [Int64], width: Int) -> String {
        guard width > 0 else { return "" }
        let shown = values.suffix(width)
        let peak = max(1, shown.max() ?? 1)
        let levels: [Character] = Array(usesUnicode ? "▁▂▃▄▅▆▇█" : "_.-:=+*#")
        let bars = shown.map { value -> Character in
            let eighths = (Double(max(0, value)) / Double(peak) * 8).rounded(.up)
            return levels[min(7, max(0, Int(saturating: eighths) - 1))]
        }
        return String(repeating: " ", count: width - bars.count) + String(bars)
    }
}
