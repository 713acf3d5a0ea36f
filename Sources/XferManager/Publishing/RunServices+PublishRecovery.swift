import XferCore
import XferFiles
import XferModel

/// Files whose intents were committed, and whose ends were not: after a crash, a storage failure or a result that is not
/// known.
extension RunServices {
    /// Finds out whether a file has its final name, and completes or undoes in the directory what was begun.
    ///
    /// - Parameter partName: nil if the file had no name before its final one.
    /// - Throws: `FileError`; nothing is known then, and the intent has to stay.
    func recover(
        _ intent: PublishIntent, partName: String?, in directory: DirectoryHandle
    ) async throws -> PublishRecovery {
        try await pool(in: directory).run {
            let publisher = Publisher(directory: directory)
            let traces = try publisher.traces(of: intent, partName: partName)
            let way = PublishRecovery(
                isNamed: traces.isNamed, hasPart: traces.hasPart, hadPart: partName != nil)
            if way == .done {
                try publisher.finish(intent, partName: traces.hasPart ? partName : nil)
            } else {
                try publisher.undo(intent, partName: partName)
            }
            return way
        }
    }
}
