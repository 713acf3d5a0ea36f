import NIOConcurrencyHelpers
import XferCurl
import XferFiles
import XferModel

/// A complete response, not yet judged. A body too large for memory is in a temporary file that only the members read.
struct WholeAnswer: Sendable {
    let outcome: AttemptOutcome
    let spill: SpoolFile

    /// The body as the member's own file.
    func copy(for member: any TransferSubscriber) async throws -> SpoolFile {
        let (services, control, id) = (member.services, member.control, await member.transfer.id)
        let spool = services.spool
        guard let length = outcome.spilledLength else {
            return try await services.pool.run { () throws(FileError) in try spool.makeFile() }
        }
        try await services.claim(length, by: id, in: spool.directory, for: "a copy of a response of \(length)")
        // Free space no longer includes what is written by then, so the claim ends.
        defer { services.space.withLockedValue { $0.remove(id) } }
        return try await services.pool.run { () throws(FileError) in
            let own = try spool.makeFile()
            _ = try FileCopy.copy(
                from: spill.descriptor, to: own.descriptor, length: length,
                isCancelled: { control.isStopRequested })
            return own
        }
    }
}
