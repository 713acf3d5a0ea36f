import Glibc
import XferModel
import XferSystem

/// Points in time in the reader's own time zone: `2026-01-02 03:04:05`.
enum TimeText {
    static func local(_ timestamp: Timestamp) -> String {
        formatted(timestamp, "%Y-%m-%d %H:%M:%S")
    }

    /// The time of day; with the date in front where that is not today.
    static func clock(_ timestamp: Timestamp, now: Timestamp = .now) -> String {
        let day = "%Y-%m-%d"
        return formatted(timestamp, day) == formatted(now, day) ? formatted(timestamp, "%H:%M:%S") : local(timestamp)
    }

    /// A value of the wire for people: a time made local, any other text unchanged.
    static func readable(_ text: String) -> String { Timestamp(rfc3339: text).map { local($0) } ?? text }

    /// Converts RFC 3339 text of the wire to local time; text that is not a time stays unchanged.
    static func local(rfc3339 text: String) -> String {
        Timestamp(rfc3339: text).map { local($0) } ?? SafeText.sanitised(text)
    }

    private static func formatted(_ timestamp: Timestamp, _ format: String) -> String {
        var seconds = time_t(clamping: timestamp.rawValue / 1_000_000)
        var parts = tm()
        guard localtime_r(&seconds, &parts) != nil else { return timestamp.description }
        var buffer = [CChar](repeating: 0, count: 64)
        let count = strftime(&buffer, buffer.count, format, &parts)
        return String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }
}

extension Timestamp {
    /// The wall clock's time.
    static var now: Timestamp { Clocks.wall() }
}

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
