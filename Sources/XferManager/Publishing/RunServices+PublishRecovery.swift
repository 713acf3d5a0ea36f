import XferCore
import XferFiles
import XferModel

/// Files whose intents were committed, and whose ends were not: after a crash, a storage failure or a result that is
/// not known.
extension RunServices {
    /// Finds out whether a file has its final name, and completes or undoes in the directory what was begun.
    ///
    /// - Parameter partName: nil if the file had no name before its final one.
    /// - Throws: `FileError`; nothing is known then, and the intent has to stay.
    func recover(
        _ intent: PublishIntent, partName: String?, in directory: DirectoryHandle
    ) async throws -> PublishRecovery {
        try await pool(in: directory).run {
            try Publisher(directory: directory).recover(intent, partName: partName)
        }
    }
}
