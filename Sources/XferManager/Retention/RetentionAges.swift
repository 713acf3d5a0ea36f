import NIOConcurrencyHelpers
public import XferCore
import XferModel
import XferStore

/// Reads both clocks. Tests supply their own.
public typealias ClockReader = @Sendable () -> ClockReading

/// The clock by which ages are computed. Every deletion by age uses it.
final class RetentionAges: Sendable {
    private let read: ClockReader
    private let clock: NIOLockedValueBox<RetentionClock>
    /// The amount by which the wall clock was set while the service did not run; nil if unknown.
    let stepBeforeStart: Duration?

    /// - Parameter last: the clock readings that the last service recorded; nil if there are none.
    init(_ last: RetentionClock?, _ read: @escaping ClockReader) {
        self.read = read
        let now = read()
        var clock = last ?? RetentionClock(now)
        stepBeforeStart = clock.observe(now)
        self.clock = NIOLockedValueBox(clock)
    }

    /// The wall clock; nil while it has been changed and is not trusted yet. Then nothing counts as too old.
    var now: Timestamp? { current.isTrusted ? current.last.wall : nil }

    var isTrusted: Bool { current.isTrusted }

    private var current: RetentionClock {
        let reading = read()
        return clock.withLockedValue { clock in
            clock.observe(reading)
            return clock
        }
    }

    /// Records the clock readings, so that the next start detects whether the clock was set meanwhile.
    func record(in tx: StoreTransaction) throws(StoreError) { try tx.settings.set(Self.key, current.text) }

    /// The readings that the last service recorded. If it recorded none, the time of its last event is used.
    static func last(in reader: StoreReader) throws(StoreError) -> RetentionClock? {
        if let known = try reader.settings.find(key).flatMap({ RetentionClock(text: $0) }) { return known }
        return try reader.events.lastTime().map {
            RetentionClock(ClockReading(wall: $0, uptime: MonotonicInstant(nanoseconds: 0), boot: ""))
        }
    }

    private static let key = "clock.last"
}
