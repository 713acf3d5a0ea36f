import NIOConcurrencyHelpers
import XferFiles
import XferModel

extension NIOLockedValueBox<SpaceLedger> {
    /// Claims space for a copy while it is made, so that copies and transfers at the same time do not together fill the
    /// disk. Blocks for as long as `write` takes.
    ///
    /// - Parameter write: makes the copy, and calls `onProgress` with the number of bytes that are written.
    /// - Throws: `FileError.noRoom` if the copy is known not to fit, and the errors of `write`.
    func claiming<Copy>(
        _ length: Int64, in directory: DirectoryHandle,
        for write: (_ onProgress: (Int64) -> Void) throws(FileError) -> Copy
    ) throws(FileError) -> Copy {
        let free = try directory.freeSpace()
        let (claim, missing) = withLockedValue { ledger -> (TransferID?, Int64) in
            let missing = ledger.shortfall(remaining: length, on: directory.fileSystemID, free: free)
            return (missing > 0 ? nil : ledger.add(remaining: length, on: directory.fileSystemID), missing)
        }
        guard let claim else { throw .noRoom(path: directory.path, missing: missing) }
        defer { withLockedValue { $0.remove(claim) } }
        return try write { written in
            withLockedValue { $0.advance(claim, to: length.subtractingSaturated(written)) }
        }
    }
}
