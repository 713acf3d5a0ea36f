import XferFiles
import XferModel

extension AttemptMaker {
    /// The directory that the task named, or `destinationUnavailable`.
    func openDirectory(_ location: PartialLocation) async throws -> DirectoryHandle {
        try await DestinationDirectory.open(location, for: specification.owner, settings, services)
    }

    /// Opens the directory of a transfer's bytes, which another holder's task may have named.
    func openDirectory(of transfer: Transfer) async throws -> DirectoryHandle {
        try await DestinationDirectory.open(transfer, for: specification, settings, services)
    }
}
