import Logging
import NIOConcurrencyHelpers
import XferCore
import XferFiles
import XferModel
import XferStore

/// Enforces the cache's limits and makes rows and files consistent, in small steps in the background.
extension ResponseCache {
    /// The highest number of rows read in one step.
    private static var step: Int { 64 }

    /// Repairs the cache after a crash or a change by another process: removes files without a row and rows without a
    /// file. Then trims.
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
            let wanted = try await store.read { try $0.cache.wantedBlobs(among: some) }
            try await pool.run { () throws(FileError) in
                for name in some where !wanted.contains(name) { try directory.remove(name) }
            }
        }
    }

    func sweepRows() async throws {
        let directory = directory
        var last = CacheEntryID(0)
        while true {
            let page = try await store.read { [last] in try $0.cache.blobs(after: last, limit: Self.step) }
            guard let end = page.last else { return }
            last = end.id
            let lost = try await pool.run { () throws(FileError) in
                var lost: [CacheEntryID] = []
                for blob in page where try !directory.holds(blob.name, length: blob.length) { lost.append(blob.id) }
                return lost
            }
            guard !lost.isEmpty else { continue }
            forget(try await store.write { try $0.cache.remove(lost) })
        }
    }

    // MARK: Limits

    /// Trims the cache after `maxBytes` was exceeded.
    func startTrimming() {
        Task {
            do {
                try await trim()
            } catch {
                logger.report("the cache could not be trimmed", error)
            }
        }
    }

    /// Applies the configured limits, or lower ones from an operator.
    ///
    /// The trim removes the entries that were unused for longer than `maxAge`. If the others exceed `maxBytes`, it then
    /// removes the least recently used ones of the owners with the most bytes until at most half of `maxBytes` is left;
    /// see `CacheShares`. Entries in use stay. Returns the number and the bytes of the removed entries; zeros if
    /// another trim is in progress.
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
        // If an operator asks for a lower age, the wall clock is used even while `ages` does not trust it.
        let now = narrower.map { $0.maxAge < self.limits.withLockedValue(\.maxAge) } == true ? clock() : ages.now
        if let oldest = now?.advanced(by: .seconds(-limits.maxAge)) {
            try await removeOldest(&removed) { blob, _ in blob.lastUsedAt < oldest }
        }
        let use = try await store.read { try $0.cache.use() }
        let byteCount = Array(use.values).saturatedSum
        estimate.withLockedValue { $0 = byteCount }
        guard byteCount > limits.maxBytes else { return removed }
        for (owner, tooMuch) in CacheShares.excess(of: use, within: limits.goal) {
            try await removeOldest(of: owner, &removed) { _, byteCount in byteCount < tooMuch }
        }
        return removed
    }

    /// Removes the least recently used entries of an owner (nil: of all owners), a few per write, as long as
    /// `isUnwanted` returns true for the next entry.
    ///
    /// - Parameter isUnwanted: receives the entry and the number of bytes that this call has removed so far.
    private func removeOldest(
        of owner: Owner? = nil, _ removed: inout CacheTotals,
        while isUnwanted: @escaping @Sendable (CachedBlob, Int64) -> Bool
    ) async throws {
        var gone: Int64 = 0
        while true {
            let inUse = inUse
            let batch = try await store.write { [gone] tx in
                var unwanted: [CacheEntryID] = []
                var sum = gone
                for blob in try tx.cache.leastRecentlyUsed(of: owner, limit: Self.step + inUse.count) {
                    if inUse.contains(blob.id) { continue }
                    guard isUnwanted(blob, sum) else { break }
                    unwanted.append(blob.id)
                    sum = sum.addingSaturated(blob.length)
                }
                return unwanted.isEmpty ? [] : try tx.cache.remove(unwanted)
            }
            guard !batch.isEmpty else { return }
            forget(batch)
            let bytes = batch.map(\.length).saturatedSum
            gone = gone.addingSaturated(bytes)
            removed.count += Int64(batch.count)
            removed.byteCount = removed.byteCount.addingSaturated(bytes)
        }
    }

    /// Removes the entries of an owner (nil: of all owners) in small steps. Returns the number and the bytes of the
    /// removed entries.
    func clear(of owner: Owner?) async throws -> CacheTotals {
        var removed = CacheTotals()
        while true {
            let batch = try await store.write { tx in
                let page = try tx.cache.entries(of: owner, ascending: true, limit: Self.step, cursor: nil)
                return try tx.cache.remove(page.entries.map(\.id), of: owner)
            }
            guard !batch.isEmpty else { return removed }
            forget(batch)
            removed.count += Int64(batch.count)
            removed.byteCount = removed.byteCount.addingSaturated(batch.map(\.length).saturatedSum)
        }
    }
}

/// The size and age limits of the cache.
struct CacheLimits: Hashable, Sendable {
    /// The limit for the sum of all contents, in bytes. Above it, contents are removed until the sum is at most half the
    /// limit.
    var maxBytes: Int64
    /// An entry that was not used for more than this number of seconds is removed.
    var maxAge: Int64

    /// The number of bytes to keep after `maxBytes` was exceeded.
    var goal: Int64 { maxBytes / 2 }

    /// The largest content worth keeping, in bytes. A larger one alone exceeds `goal`, so the next trim would remove
    /// it.
    var largestContent: Int64 { goal }
}

extension ManagerSettings {
    var cacheLimits: CacheLimits { CacheLimits(maxBytes: cacheMaxBytes, maxAge: cacheMaxAge.components.seconds) }
}
