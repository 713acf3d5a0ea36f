import XferCore
import XferFiles
import XferModel

/// Handles files whose intents were committed but whose ends were not: after a crash, a storage failure or a result
/// that is not known.
extension RunServices {
    /// Determines if a file has its final name, and completes or undoes the steps in the directory.
    ///
    /// - Parameter partName: nil if the file had no name before its final one.
    /// - Throws: `FileError`; then the result is unknown, and the intent has to stay.
    func recover(
        _ intent: PublishIntent, partName: String?, in directory: DirectoryHandle
    ) async throws -> PublishRecovery {
        guard partName != nil else {
            // Such a file is small, and it does no harm if its recovery ends later than the next one.
            return try await paths.run(in: directory) { _ in
                try Publisher(directory: directory).recover(intent, partName: nil)
            }
        }
        return try await pool(in: directory).run {
            try Publisher(directory: directory).recover(intent, partName: partName)
        }
    }
}
