/// Spans of time for people, at most two units: `8s`, `3m20s`, `1h05m`, `2d03h`.
enum DurationText {
    static func short(_ seconds: Int64) -> String {
        let seconds = max(0, seconds)
        switch seconds {
        case ..<60: return "\(seconds)s"
        case ..<3600: return "\(seconds / 60)m\(twoDigits(seconds % 60))s"
        case ..<86_400: return "\(seconds / 3600)h\(twoDigits(seconds / 60 % 60))m"
        case ..<(86_400 * 1000): return "\(seconds / 86_400)d\(twoDigits(seconds / 3600 % 24))h"
        default: return "long"
        }
    }

    static func twoDigits(_ value: Int64) -> String { value < 10 ? "0\(value)" : "\(value)" }
}
