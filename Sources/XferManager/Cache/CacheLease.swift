import NIOConcurrencyHelpers
import XferModel

/// A cache entry that a run may use. It is not evicted while the lease lives.
final class CacheLease: Sendable {
    let entry: CacheEntry
    private let inUse: EntriesInUse

    init(_ entry: CacheEntry, among inUse: EntriesInUse) {
        self.entry = entry
        self.inUse = inUse
        inUse.insert(entry.id)
    }

    deinit { inUse.remove(entry.id) }
}

/// The entries that runs use, with the number of leases.
final class EntriesInUse: Sendable {
    private let counts = NIOLockedValueBox<[CacheEntryID: Int]>([:])

    var count: Int { counts.withLockedValue(\.count) }

    func contains(_ id: CacheEntryID) -> Bool { counts.withLockedValue { $0[id] != nil } }

    func insert(_ id: CacheEntryID) { counts.withLockedValue { $0[id, default: 0] += 1 } }

    func remove(_ id: CacheEntryID) {
        counts.withLockedValue { counts in
            guard let count = counts[id] else { return }
            counts[id] = count > 1 ? count - 1 : nil
        }
    }
}
