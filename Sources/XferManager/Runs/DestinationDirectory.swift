import XferFiles
import XferModel

/// Opening the directory that a transfer's bytes lie in.
enum DestinationDirectory {
    /// The directory of the add, beneath a root of the owner's, or `destinationUnavailable`. The same inode on another
    /// device number is the same directory after a reboot; another inode on the same device was made anew; neither is an
    /// unmounted disk.
    static func open(
        _ partial: PartialLocation, for owner: Owner, _ settings: ManagerSettings, _ services: RunServices
    ) async throws -> DirectoryHandle {
        let allowed = settings.isOperator(owner) ? settings.roots : settings.grantedRoots
        return try await open(partial, beneath: allowed, settings, services)
    }

    /// Opens a directory's path again, as somebody who looks for the file there would find it. What it answers blocks.
    static func reopening(
        _ directory: DirectoryHandle, for owner: Owner, _ settings: ManagerSettings, _ services: RunServices
    ) -> @Sendable () throws -> DirectoryHandle {
        let allowed = settings.isOperator(owner) ? settings.roots : settings.grantedRoots
        let roots = AllowedRoots(roots: allowed, forbidden: settings.forbiddenDirectories)
        return { [path = directory.path, directories = services.directories] in
            try directories.reopen(path, beneath: roots)
        }
    }

    /// As above, for reading: whoever shares a transfer may read what lies in another one's directory.
    static func openForReading(
        _ partial: PartialLocation, _ settings: ManagerSettings, _ services: RunServices
    ) async throws -> DirectoryHandle {
        try await open(partial, beneath: settings.roots + settings.grantedRoots, settings, services)
    }

    private static func open(
        _ partial: PartialLocation, beneath allowed: [String], _ settings: ManagerSettings, _ services: RunServices
    ) async throws -> DirectoryHandle {
        let (recorded, path) = (partial.identity, partial.directory)
        let roots = AllowedRoots(roots: allowed, forbidden: settings.forbiddenDirectories)
        do {
            let directories = services.directories
            let justSeen = directories.justSeen(path, beneath: roots)
            let directory =
                if let justSeen { justSeen } else {
                    try await services.pool.run { try directories.open(path, beneath: roots) }
                }
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
