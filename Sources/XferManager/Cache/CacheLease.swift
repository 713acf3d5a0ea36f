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
