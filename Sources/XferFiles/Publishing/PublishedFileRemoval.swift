import CLinux
import Glibc
public import XferModel

/// The result of deleting a published file.
public enum PublishedFileRemoval: Hashable, Sendable {
    case removed
    /// No file has that name.
    case missing
    /// The file of that name is not the one that was published, or cannot be distinguished from others; it was not
    /// moved.
    case kept
    /// The file looks like the published one, but its file system records nothing that distinguishes it from
    /// another, and no digest is known; it was not moved.
    case unidentified
    /// The file is kept under this name, because another file got its name meanwhile.
    case displaced(to: String)
}

extension DirectoryHandle {
    /// Deletes a published file, unless its name now leads to another file.
    ///
    /// The name is first changed to `privateName`, so that the file that was compared is the file that is deleted, even
    /// if another file gets its name meanwhile. A call after a crash finishes what the first one began: it also checks
    /// `privateName`. Does not sync the directory.
    ///
    /// - Parameters:
    ///   - privateName: a name that only this removal uses.
    ///   - digest: of the published bytes, if it is known. Without it a file is `unidentified` whose file system
    ///     records neither the time of birth nor the generation, since its inode may have passed to another file, or
    ///     changes the inode numbers of files (FUSE).
    /// - Throws: `nameTaken` if another file has the private name and cannot go back, `notPermitted`, `invalidName`,
    ///   `system` and its like: the file may be under either name.
    public func removePublished(
        _ published: PublishedFile, named name: String, privateName: String, digest: Checksum?
    ) throws(FileError) -> PublishedFileRemoval {
        try requireSingleName(name)
        try requireSingleName(privateName)
        try requireStillWritable()
        // A crash may have come between the placeholder of the private name and the rename; see `renameKeeping`.
        if try exists(name) { try removePlaceholder(privateName, for: name) }
        let isRepeated = try exists(privateName)
        if isRepeated {
            guard try holds(published, under: privateName, digest: digest) else {
                guard try move(privateName, to: name) else { throw .nameTaken(path: path(of: privateName)) }
                return .kept
            }
            // Where a rename takes a link, the first call may have left the file under both names.
            try remove(privateName)
        }
        guard let facts = try facts(of: name), isStill(published, facts) else {
            return isRepeated ? .removed : try exists(name) ? .kept : .missing
        }
        guard digest != nil || identifies(published) else { return .unidentified }
        guard try move(name, to: privateName) else {
            return isRepeated ? .removed : try exists(name) ? .kept : .missing
        }
        if try holds(published, under: privateName, digest: digest) {
            try remove(privateName)
            return .removed
        }
        return try move(privateName, to: name) ? .kept : .displaced(to: privateName)
    }

    /// True if a file in here has the facts of the published one. Where files change their inode numbers, the length
    /// and the modification time are all that can be compared.
    private func isStill(_ published: PublishedFile, _ facts: FileFacts) -> Bool {
        if published.isStill(facts) { return isPlausibleDevice(of: facts, published) }
        return !traits.keepsInodeNumbers && published.length == facts.length
            && published.modifiedAt.map { traits.isSameTime(facts.modifiedAt, as: $0) } == true
    }

    /// True if a file with the facts of the published one may be in here. overlayfs numbers the devices of its files
    /// otherwise than those of its directories, so only a file that nothing but its inode number identifies has to be
    /// on the directory's.
    public func isPlausibleDevice(of facts: FileFacts, _ published: PublishedFile) -> Bool {
        published.modifiedAt != nil || facts.identity.device == identity.device
    }

    /// True if the facts alone distinguish the published file from every other file in this directory.
    private func identifies(_ published: PublishedFile) -> Bool {
        published.mark.isCertain && published.modifiedAt != nil && traits.keepsInodeNumbers
    }

    /// True if the opened file is the published one.
    private func holds(_ published: PublishedFile, under name: String, digest: Checksum?) throws(FileError) -> Bool {
        do throws(FileError) {
            let file = try ReadableFile(in: self, named: name)
            let facts = try file.facts()
            guard isStill(published, facts) else { return false }
            if identifies(published) { return true }
            guard let digest else { return false }
            return try file.digest(digest.algorithm, length: facts.length) == digest
        } catch {
            switch error {
            case .missing, .lengthMismatch, .digestUnavailable: return false
            default: throw error
            }
        }
    }

    /// Changes a name without replacing another file; false if the new name is taken or the old one no longer exists.
    private func move(_ name: String, to other: String) throws(FileError) -> Bool {
        switch renameKeeping(name, to: other) {
        case .value(let isMoved): return isMoved
        case .failure(ENOENT): return false
        case .failure(let code): throw .system(operation: "rename", path: path(of: name), code: code)
        }
    }
}
