import Logging
import NIOConcurrencyHelpers
import XferFiles
import XferModel
import XferStore

/// Keeping the cache within its limits, and rows and files together: in small steps, beside everything else.
extension ResponseCache {
    /// Rows looked at in one step.
    private static var step: Int { 64 }

    /// Puts right what a crash or somebody else left: files without a row go, rows without their file, too. Then trims.
    func start() {
        Task {
            do {
                try await sweepFiles()
                try await sweepRows()
                try await trim()
            } catch {
                logger.report("the cache could not be swept", error)
            }
        }
    }

    func sweepFiles() async throws {
        let directory = directory
        var names = try await pool.run { () throws(FileError) in try directory.settledNames() }[...]
        while !names.isEmpty {
            let some = Array(names.prefix(Self.step))
            names = names.dropFirst(Self.step)
            let wanted = try await store.read { try $0.wantedBlobs(among: some) }
            try await pool.run { () throws(FileError) in
                for name in some where !wanted.contains(name) { try directory.remove(name) }
            }
        }
    }

    func sweepRows() async throws {
        let directory = directory
        var last = CacheEntryID(0)
        while true {
            let page = try await store.read { [last] in try $0.cachedBlobs(after: last, limit: Self.step) }
            guard let end = page.last else { return }
            last = end.id
            let lost = try await pool.run { () throws(FileError) in
                var lost: [CacheEntryID] = []
                for blob in page where try !directory.holds(blob.name, length: blob.length) { lost.append(blob.id) }
                return lost
            }
            guard !lost.isEmpty else { continue }
            forget(try await store.write { try $0.removeCacheEntries(lost) })
        }
    }

    // MARK: Limits

    /// What is still counted after more was kept than may be.
    func startTrimming() {
        Task {
            do {
                try await trim()
            } catch {
                logger.report("the cache could not be trimmed", error)
            }
        }
    }

    /// Applies the limits, or narrower ones that an operator asks for: what was not used for too long goes, then, if there is too much, the least
    /// recently used until it is under half. Never what is in use. Answers what went; nothing while another one is at it.
    @discardableResult
    func trim(to narrower: CacheLimits? = nil) async throws -> CacheTotals {
        let isFree = isTrimming.withLockedValue { isTrimming in
            defer { isTrimming = true }
            return !isTrimming
        }
        guard isFree else { return CacheTotals() }
        defer { isTrimming.withLockedValue { $0 = false } }
        let limits = narrower ?? self.limits.withLockedValue(\.self)
        var removed = CacheTotals()
        // An operator who names an age means the clock as it is.
        let now = narrower.map { $0.maxAge < self.limits.withLockedValue(\.maxAge) } == true ? clock() : ages.now
        if let oldest = now?.advanced(by: .seconds(-limits.maxAge)) {
            try await removeOldest(&removed) { blob, _ in blob.lastUsedAt < oldest }
        }
        let totals = try await store.read { try $0.cacheTotals() }
        estimate.withLockedValue { $0 = totals.byteCount }
        guard totals.byteCount > limits.maxBytes else { return removed }
        let tooMuch = totals.byteCount.subtractingSaturated(limits.goal)
        try await removeOldest(&removed) { _, byteCount in byteCount < tooMuch }
        return removed
    }

    /// Removes the least recently used, a few in a write of their own, for as long as `isUnwanted` says of the next one,
    /// given what went before it.
    private func removeOldest(
        _ removed: inout CacheTotals, while isUnwanted: @escaping @Sendable (CachedBlob, Int64) -> Bool
    ) async throws {
        var gone: Int64 = 0
        while true {
            let inUse = inUse
            let batch = try await store.write { [gone] tx in
                var unwanted: [CacheEntryID] = []
                var sum = gone
                for blob in try tx.leastRecentlyUsed(limit: Self.step + inUse.count) {
                    if inUse.contains(blob.id) { continue }
                    guard isUnwanted(blob, sum) else { break }
                    unwanted.append(blob.id)
                    sum = sum.addingSaturated(blob.length)
                }
                return unwanted.isEmpty ? [] : try tx.removeCacheEntries(unwanted)
            }
            guard !batch.isEmpty else { return }
            forget(batch)
            let bytes = batch.map(\.length).saturatedSum
            gone = gone.addingSaturated(bytes)
            removed.count += Int64(batch.count)
            removed.byteCount = removed.byteCount.addingSaturated(bytes)
        }
    }

    /// Removes an owner's entries, or everybody's, in small steps. Answers how much went.
    func clear(of owner: Owner?) async throws -> CacheTotals {
        var removed = CacheTotals()
        while true {
            let batch = try await store.write { tx in
                let page = try tx.cacheEntries(of: owner, ascending: true, limit: Self.step, cursor: nil)
                return try tx.removeCacheEntries(page.entries.map(\.id), of: owner)
            }
            guard !batch.isEmpty else { return removed }
            forget(batch)
            removed.count += Int64(batch.count)
            removed.byteCount = removed.byteCount.addingSaturated(batch.map(\.length).saturatedSum)
        }
    }
}
