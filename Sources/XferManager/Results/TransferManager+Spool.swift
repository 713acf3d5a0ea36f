import Logging
import XferFiles
import XferModel
import XferStore

/// Keeping the spool directory tidy: files go when no row names them any more.
extension TransferManager {
    /// Deletes files that no row names any more. What fails is deleted by a later sweep.
    func removeSpoolFiles(_ names: [String]) {
        guard !names.isEmpty else { return }
        let spool = services.spool
        Task {
            do {
                try await services.pool.run { () throws(FileError) in for name in names { try spool.remove(name) } }
            } catch {
                logger.report("spooled bytes could not be deleted", error)
            }
        }
    }

    /// Deletes what a crash left in the spool directory: files without a row.
    func sweepSpool() {
        let (spool, pool) = (services.spool, services.pool)
        Task {
            do {
                for name in try await pool.run({ () throws(FileError) in try spool.settledNames() }) {
                    guard try await !store.read({ try $0.isWanted(spoolFile: name) }) else { continue }
                    try await pool.run { () throws(FileError) in try spool.remove(name) }
                }
            } catch {
                logger.report("the spool directory could not be swept", error)
            }
        }
    }

    /// Forgets responses that were kept long enough.
    func trimResults(olderThan time: Timestamp) async throws {
        while true {
            let files = try await store.write(.bulky) { tx in
                let expired = try tx.expiredResults(olderThan: time, limit: 200)
                for (id, _) in expired { try tx.removeResult(of: id) }
                return expired.map(\.file)
            }
            guard !files.isEmpty else { return }
            removeSpoolFiles(files.compactMap(\.self))
        }
    }

    /// Forgets what failed tasks would have sent again.
    func trimSpooledSources(olderThan time: Timestamp) async throws {
        while true {
            let names = try await store.write(.bulky) { tx in
                let expired = try tx.expiredSpooledSources(olderThan: time, limit: 200)
                for (id, _) in expired { try tx.removeSpooledSources(of: id) }
                return expired.map(\.name)
            }
            guard !names.isEmpty else { return }
            removeSpoolFiles(names)
        }
    }
}
