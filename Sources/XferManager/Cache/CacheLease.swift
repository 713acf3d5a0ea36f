import XferModel

/// An entry of the cache that a run may use: it is not evicted while this lives.
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
