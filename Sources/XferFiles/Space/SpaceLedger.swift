public import XferModel

/// Decides which transfers fit on a file system, from the bytes that each is going to write there. Pure: free space is
/// passed in.
public struct SpaceLedger: Sendable {
    /// Bytes that stay free on every file system, at least 0.
    public var reserve: Int64
    private var claims: [TransferID: Claim] = [:]

    /// Free space by file system, as it was measured last.
    private var measured: [UInt64: Measurement] = [:]

    private struct Claim {
        var fileSystem: UInt64
        var remaining: Int64
    }

    private struct Measurement {
        var free: Int64
        var time: MonotonicInstant
    }

    public init(reserve: Int64) { self.reserve = max(0, reserve) }

    /// Sets the bytes that a running transfer still has to write: its length less what was written, or 0 while its
    /// length is unknown or after its blocks were preallocated (they are not free space any more).
    ///
    /// - Parameter fileSystem: `DirectoryHandle.fileSystemID`.
    public mutating func set(remaining: Int64, for transfer: TransferID, on fileSystem: UInt64) {
        claims[transfer] = Claim(fileSystem: fileSystem, remaining: max(0, remaining))
    }

    /// Lowers the claim of a running transfer: the bytes it has written are not free any more.
    public mutating func advance(_ transfer: TransferID, to remaining: Int64) {
        guard let claim = claims[transfer], remaining < claim.remaining else { return }
        claims[transfer]?.remaining = max(0, remaining)
    }

    /// Removes a transfer that does not run any more.
    public mutating func remove(_ transfer: TransferID) { claims[transfer] = nil }

    /// Bytes missing for `remaining` more, 0 when it fits. The claims of the other running transfers on the file
    /// system, `remaining` and the reserve have to fit into the free space.
    ///
    /// - Parameter transfer: its own claim is not counted, because `remaining` replaces it.
    public func shortfall(
        remaining: Int64, for transfer: TransferID? = nil, on fileSystem: UInt64, free: Int64
    ) -> Int64 {
        var needed = max(0, remaining).addingSaturated(reserve)
        for (other, claim) in claims where other != transfer && claim.fileSystem == fileSystem {
            needed = needed.addingSaturated(claim.remaining)
        }
        return max(0, needed - max(0, free))
    }

    /// Records a measurement of free space.
    public mutating func record(free: Int64, on fileSystem: UInt64, at time: MonotonicInstant) {
        measured[fileSystem] = Measurement(free: free, time: time)
    }

    /// Whether `remaining` is so small, and the last measurement so recent and large, that no new one is needed: many
    /// small files need not measure once each.
    public func surelyFits(
        remaining: Int64, for transfer: TransferID? = nil, on fileSystem: UInt64, at now: MonotonicInstant
    ) -> Bool {
        guard remaining <= Self.little, let last = measured[fileSystem],
            last.time.duration(to: now) < Self.moment
        else { return false }
        return fits(remaining: remaining + Self.plenty, for: transfer, on: fileSystem, free: last.free)
    }

    private static let little: Int64 = 1 << 20
    private static let moment = Duration.milliseconds(200)
    /// More than all writers together write in that moment.
    private static let plenty: Int64 = 2 << 30

    /// Whether `remaining` more bytes fit.
    public func fits(
        remaining: Int64, for transfer: TransferID? = nil, on fileSystem: UInt64, free: Int64
    ) -> Bool {
        shortfall(remaining: remaining, for: transfer, on: fileSystem, free: free) == 0
    }
}
