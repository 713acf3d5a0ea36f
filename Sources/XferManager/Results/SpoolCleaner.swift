import Logging
import XferFiles
import XferModel
import XferStore

/// Removes files from the spool directory when no row names them any more.
extension RunServices {
    /// Deletes files that no row names any more. A file that cannot be deleted is left to a later sweep.
    func removeSpoolFiles(_ names: [String]) {
        guard !names.isEmpty else { return }
        let (spool, pool) = (spool, pool)
        Task {
            do {
                try await pool.run { () throws(FileError) in for name in names { try spool.remove(name) } }
            } catch {
                logger.report("spooled bytes could not be deleted", error)
            }
        }
    }

    /// Deletes the files without a row that a crash left in the spool directory.
    func sweepSpool() {
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
}
