import NIOConcurrencyHelpers
public import XferCore
import XferModel
import XferStore

/// Reads both clocks; tests pass one of their own.
public typealias ClockReader = @Sendable () -> ClockReading

/// The time that ages are told from where something is deleted for its age. Every deletion by age asks here.
final class RetentionAges: Sendable {
    private let read: ClockReader
    private let clock: NIOLockedValueBox<RetentionClock>
    /// By how much the wall clock was set while the service did not run; nil when that is not known.
    let stepBeforeStart: Duration?

    /// - Parameter last: what the last service saw, nil when nothing is known.
    init(_ last: RetentionClock?, _ read: @escaping ClockReader) {
        self.read = read
        let now = read()
        var clock = last ?? RetentionClock(now)
        stepBeforeStart = clock.observe(now)
        self.clock = NIOLockedValueBox(clock)
    }

    /// The wall clock; nil while it has been changed and is not trusted yet: then nothing is too old.
    var now: Timestamp? { current.isTrusted ? current.last.wall : nil }

    var isTrusted: Bool { current.isTrusted }

    private var current: RetentionClock {
        let reading = read()
        return clock.withLockedValue { clock in
            clock.observe(reading)
            return clock
        }
    }

    /// Writes down what the clocks say, so that a start sees whether they were set meanwhile.
    func record(in tx: StoreTransaction) throws(StoreError) { try tx.setSetting(Self.key, current.text) }

    /// What the last service saw. One that did not write it down appended an event at its end.
    static func last(in reader: StoreReader) throws(StoreError) -> RetentionClock? {
        if let known = try reader.setting(key).flatMap({ RetentionClock(text: $0) }) { return known }
        return try reader.lastEventTime().map {
            RetentionClock(ClockReading(wall: $0, uptime: MonotonicInstant(nanoseconds: 0), boot: ""))
        }
    }

    private static let key = "clock.last"
}
