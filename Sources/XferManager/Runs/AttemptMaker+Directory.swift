import XferFiles
import XferModel

extension AttemptMaker {
    /// The directory of the add, or `destinationUnavailable`. The same inode on another device number is the same
    /// directory after a reboot; another inode on the same device was made anew; neither is an unmounted disk.
    func openDirectory(_ location: PartialLocation) async throws -> DirectoryHandle {
        let (path, recorded) = (location.directory, location.identity)
        let allowed = settings.isOperator(specification.owner) ? settings.roots : settings.grantedRoots
        let roots = AllowedRoots(roots: allowed, forbidden: settings.forbiddenDirectories)
        do {
            let directory = try await services.pool.run { try roots.open(directory: path) }
            let found = directory.identity
            guard found.device == recorded.device || found.inode == recorded.inode else {
                throw TransferError(
                    .destinationUnavailable,
                    "\(path) is not the directory it was when the task was added: is its disk mounted?")
            }
            return directory
        } catch FileError.missing {
            throw TransferError(
                .destinationUnavailable, "\(path) is gone: it has to come back or the task be cancelled")
        }
    }
}
