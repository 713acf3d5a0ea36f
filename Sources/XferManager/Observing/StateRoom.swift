import NIOConcurrencyHelpers
import XferFiles
import XferModel
import XferSystem

/// The free space on the file system of the state directory, of which some is reserved for operators: on a full disk no
/// task could be cancelled or removed.
final class StateRoom: Sendable {
    private struct State {
        var measuredAt: MonotonicInstant?
        var isLow = false
    }

    private static let lifetime = Duration.seconds(1)

    private let disks = DiskFigures(pool: BlockingPool("xferd-room", threadCount: 1))
    private let state = NIOLockedValueBox(State())

    /// True if only operators may add tasks: less than 32 MiB, or than a fiftieth of a small file system, are free.
    static func isLow(free: Int64, size: Int64) -> Bool { free < min(32 << 20, size / 50) }

    /// True if there is little space, measured within the last second.
    func isLow(at path: String) async -> Bool {
        let now = Clocks.monotonic()
        let known = state.withLockedValue { state -> Bool? in
            guard let measuredAt = state.measuredAt, measuredAt.duration(to: now) < Self.lifetime else { return nil }
            return state.isLow
        }
        if let known { return known }
        let figure = await disks.measure([path]).first
        let isLow = figure.map { Self.isLow(free: $0.free, size: $0.size) } ?? false
        state.withLockedValue { $0 = State(measuredAt: now, isLow: isLow) }
        return isLow
    }
}
