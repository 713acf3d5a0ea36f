import NIOConcurrencyHelpers
import XferCore
public import XferModel
import XferSystem

/// The leases that are in force, by name.
///
/// They are in memory only: after a restart every lease is over until it is renewed, since its caller may have taken
/// its tasks back meanwhile. Renewing costs no commit.
final class TaskLeases: Sendable {
    /// The highest number of names.
    static let maxCount = 64

    private let ends = NIOLockedValueBox<[String: MonotonicInstant]>([:])

    /// The effect of a renewal.
    enum Renewal: Hashable, Sendable {
        /// The lease lasts longer, or as long as before.
        case prolonged
        /// True if a lease is in force again or for the first time, or ends earlier than before: its tasks have to be
        /// checked.
        case changed
        /// The lease was refused, because there are too many.
        case refused
    }

    /// Sets when the lease ends, on the clock that cannot be set and continues while the machine sleeps
    /// (`CLOCK_BOOTTIME`).
    func renew(_ name: String, until end: MonotonicInstant, at now: MonotonicInstant = Clocks.monotonic()) -> Renewal {
        ends.withLockedValue { ends in
            let earlier = ends[name]
            if earlier == nil, ends.count >= Self.maxCount {
                ends = ends.filter { $0.value > now }
                guard ends.count < Self.maxCount else { return .refused }
            }
            ends[name] = end
            guard let earlier, earlier > now else { return .changed }
            return end < earlier ? .changed : .prolonged
        }
    }

    /// True if the lease is in force; true without a name.
    func isInForce(_ name: String?, at now: MonotonicInstant = Clocks.monotonic()) -> Bool {
        guard let name else { return true }
        return ends.withLockedValue { $0[name] }.map { $0 > now } ?? false
    }

    /// The end of the lease by the wall clock, which reads `wall` now; nil if it is over.
    func end(of name: String, wall: Timestamp, at now: MonotonicInstant = Clocks.monotonic()) -> Timestamp? {
        guard let end = ends.withLockedValue({ $0[name] }), end > now else { return nil }
        return wall.advanced(by: now.duration(to: end))
    }
}

/// The facts on which start conditions depend besides the task itself.
struct ConditionInputs: Sendable {
    let zones: TimeZones
    let leases: TaskLeases

    func conditions(of schedule: TaskSchedule, at now: Timestamp) -> StartConditions {
        StartConditions(
            schedule, zone: zones.rules(for: schedule),
            leaseEnd: schedule.lease.flatMap { leases.end(of: $0, wall: now) })
    }
}

/// Renews leases, and has their tasks checked when one begins or ends.
public struct LeaseCommands: ManagerPart, Sendable {
    let context: ManagerContext
    let conditions: ClockFollower

    /// Sets until when a lease is in force.
    ///
    /// - Parameter end: on the clock that `Clocks.monotonic` reads.
    /// - Throws: `ManagerError.limitExceeded` for a name too many.
    public func renew(_ name: String, until end: MonotonicInstant) async throws {
        switch leases.renew(name, until: end) {
        case .prolonged: break
        case .changed: await conditions.recomputeConditions()
        case .refused:
            throw ManagerError.limitExceeded(reason: "leases", limit: TaskLeases.maxCount)
        }
    }
}
