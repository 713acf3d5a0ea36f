import XferManager
import XferModel
import XferProtocol
import XferSystem

/// Handles `lease.*`: decodes, authorises, calls and encodes.
struct LeaseHandlers: Sendable {
    let leases: LeaseCommands

    var all: [Handler] {
        [
            Handler(LeaseRenew.self) { params, _ in
                try await leases.renew(
                    params.name, until: MonotonicInstant(nanoseconds: Int64(saturating: params.until * 1e9)))
                return LeaseRenew.Result(now: Double(Clocks.monotonic().nanoseconds) / 1e9)
            }
        ]
    }
}
