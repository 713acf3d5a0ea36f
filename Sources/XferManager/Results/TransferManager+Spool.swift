import Logging
import XferFiles
import XferModel
import XferStore

/// Removes files from the spool directory when no row names them any more.
extension TransferManager {
    /// Deletes files that no row names any more. A file that cannot be deleted is left to a later sweep.
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

    /// Deletes the files without a row that a crash left in the spool directory.
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

    /// Removes responses whose retention is over.
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

    /// Removes the spooled sources of failed tasks.
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
