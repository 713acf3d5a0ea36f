public import XferModel

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
