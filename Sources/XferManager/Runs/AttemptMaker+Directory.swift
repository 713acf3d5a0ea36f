import XferFiles
import XferModel

extension AttemptMaker {
    /// The directory of the add, or `destinationUnavailable`. The same inode on another device number is the same
    /// directory after a reboot; another inode on the same device was made anew; neither is an unmounted disk.
    func openDirectory(_ location: PartialLocation) async throws -> DirectoryHandle {
        try await DestinationDirectory.open(location, for: specification.owner, settings, services)
    }
}
