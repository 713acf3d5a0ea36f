import NIOConcurrencyHelpers
import XferModel

@testable import XferManager

/// A wall clock that stands still until a test sets it.
final class SettableClock: Sendable {
    private let now: NIOLockedValueBox<Timestamp>

    init(_ text: String) { now = NIOLockedValueBox(Timestamp(rfc3339: text) ?? Timestamp(seconds: 0)) }

    var wall: WallClock { { [now] in now.withLockedValue { $0 } } }

    func set(_ text: String) { now.withLockedValue { $0 = Timestamp(rfc3339: text) ?? $0 } }
}

/// RFC 3339 text in tests.
func at(_ text: String) -> Timestamp { Timestamp(rfc3339: text) ?? Timestamp(rawValue: .min) }
