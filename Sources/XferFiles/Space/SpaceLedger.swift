public import XferModel

/// Decides which transfers fit on a file system, from the bytes that each is going to write there.
///
/// It makes no system calls: the caller passes the free space.
public struct SpaceLedger: Sendable {
    /// The number of bytes that stay free on every file system, at least 0.
    public var reserve: Int64
    private var claims: [TransferID: Claim] = [:]
    /// The number of claims that `add` has made.
    private var added: Int64 = 0

    /// The last measurement of free space, by file system.
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

    /// Sets the bytes that a running transfer still has to write: its length less the written bytes, or 0 while its
    /// length is unknown or after its blocks were preallocated (they are no longer free space).
    ///
    /// - Parameter fileSystem: `DirectoryHandle.fileSystemID`.
    public mutating func set(remaining: Int64, for transfer: TransferID, on fileSystem: UInt64) {
        claims[transfer] = Claim(fileSystem: fileSystem, remaining: max(0, remaining))
    }

    /// Claims space for bytes that belong to no transfer. Returns the claim's number, which no transfer and no copy of a
    /// task has (`TransferID.copy`).
    public mutating func add(remaining: Int64, on fileSystem: UInt64) -> TransferID {
        added += 1
        let id = TransferID(Int64.min / 2 + added)
        set(remaining: remaining, for: id, on: fileSystem)
        return id
    }

    /// Lowers the claim of a running transfer: the bytes it has written are no longer free.
    public mutating func advance(_ transfer: TransferID, to remaining: Int64) {
        guard let claim = claims[transfer], remaining < claim.remaining else { return }
        claims[transfer]?.remaining = max(0, remaining)
    }

    /// Removes a transfer that no longer runs.
    public mutating func remove(_ transfer: TransferID) { claims[transfer] = nil }

    /// Bytes missing to write `remaining` more; 0 if they fit. The claims of the other running transfers on the file
    /// system, `remaining` and the reserve have to fit into the free space.
    ///
    /// - Parameter transfer: the transfer that writes the bytes. `remaining` replaces its claim.
    public func shortfall(
        remaining: Int64, for transfer: TransferID? = nil, on fileSystem: UInt64, free: Int64
    ) -> Int64 {
        var needed = max(0, remaining).addingSaturated(reserve)
        for (other, claim) in claims where other != transfer && claim.fileSystem == fileSystem {
            needed = needed.addingSaturated(claim.remaining)
        }
        return max(0, needed - max(0, free))
    }

    /// The free space of a file system.
    public struct Room: Hashable, Sendable {
        public var fileSystem: UInt64
        public var free: Int64

        public init(fileSystem: UInt64, free: Int64) {
            self.fileSystem = fileSystem
            self.free = free
        }
    }

    /// The bytes that a transfer which does not run is going to write.
    public struct Request: Hashable, Sendable {
        public var needed: Int64
        /// True if the reserve need not stay free.
        public var usesReserve: Bool
        public var room: Room

        public init(needed: Int64, usesReserve: Bool = false, room: Room) {
            self.needed = needed
            self.usesReserve = usesReserve
            self.room = room
        }
    }

    /// The places in the list of the requests that fit, each beside the admitted ones before it. A nil, whose file
    /// system is not known, counts as fitting.
    public func admitted(_ requests: [Request?]) -> [Int] {
        var granted: [UInt64: Int64] = [:]
        return requests.indices.filter { index in
            guard let request = requests[index] else { return true }
            let before = granted[request.room.fileSystem, default: 0]
            let all = before.addingSaturated(max(0, request.needed))
            let free = max(0, request.room.free).addingSaturated(request.usesReserve ? reserve : 0)
            guard fits(remaining: all, on: request.room.fileSystem, free: free) else { return false }
            granted[request.room.fileSystem] = all
            return true
        }
    }

    /// Records a measurement of free space.
    public mutating func record(free: Int64, on fileSystem: UInt64, at time: MonotonicInstant) {
        measured[fileSystem] = Measurement(free: free, time: time)
    }

    /// True if `remaining` fits for certain, without a new measurement: it is small, and the last measurement is recent
    /// and large. This avoids one measurement for each of many small files.
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
    /// The reserve for a moment: more bytes than all writers together can write within `moment`.
    private static let plenty: Int64 = 2 << 30

    /// True if `remaining` more bytes fit.
    public func fits(
        remaining: Int64, for transfer: TransferID? = nil, on fileSystem: UInt64, free: Int64
    ) -> Bool {
        shortfall(remaining: remaining, for: transfer, on: fileSystem, free: free) == 0
    }
}
