import CLinux
import Glibc
public import XferModel

/// Gives a verified partial file its final name, in steps. Between the steps the caller commits its next one:
///
/// 1. `prepare`: exact length, mode, times, durable bytes;
/// 2. `chooseName`, then commit a `PublishIntent`;
/// 3. `rename`: on `nameTaken` return to step 2; the partial file is unchanged;
/// 4. `directory.sync()`, then commit the outcome.
///
/// After a crash `traces` shows which of them were done. Every call blocks: run it on a `BlockingPool`.
public struct Publisher: Sendable {
    public let directory: DirectoryHandle

    public init(directory: DirectoryHandle) { self.directory = directory }

    /// Required and assigned attributes of a part before it is published.
    public struct Attributes: Hashable, Sendable {
        /// Required length in bytes.
        public var length: Int64
        /// Permission bits of the published file, 0 … 0o777.
        public var mode: UInt16
        /// True if a default access control list of the directory decides instead of `mode`, where it has one.
        public var yieldsToDirectory: Bool
        /// The modification time; nil leaves the time of the last write.
        public var modifiedAt: Timestamp?
        /// The file's facts when it was complete; they must not have changed. Nil if they were not recorded.
        public var whole: FileFacts?

        public init(
            length: Int64, mode: UInt16, yieldsToDirectory: Bool = false, modifiedAt: Timestamp? = nil,
            whole: FileFacts? = nil
        ) {
            self.length = length
            self.mode = mode
            self.yieldsToDirectory = yieldsToDirectory
            self.modifiedAt = modifiedAt
            self.whole = whole
        }
    }

    /// Makes the part ready to be seen: checks its length, sets mode and modification time, makes all of it durable. A
    /// file system that refuses the mode or the time does not fail it; see `PartialFile.refusedAttributes`.
    ///
    /// - Throws: `lengthMismatch`, `partChanged`, `poisoned`, `closed`, `system`.
    public func prepare(_ part: PartialFile, _ attributes: Attributes) throws(FileError) {
        try set(attributes, of: part)
        try part.sync(.everything)
    }

    /// Prepares several parts of the directory with one fsync for its entries. Returns for each part, in order, nil or
    /// its error.
    public func prepare(_ parts: [(part: PartialFile, attributes: Attributes)]) -> [FileError?] {
        var failures = parts.map { part, attributes -> FileError? in
            do throws(FileError) {
                try set(attributes, of: part)
                return nil
            } catch {
                return error
            }
        }
        let ready = parts.indices.filter { failures[$0] == nil }
        for (index, failure) in zip(ready, PartialFile.sync(ready.map { parts[$0].part }, .everything)) {
            failures[index] = failure
        }
        return failures
    }

    private func set(_ attributes: Attributes, of part: PartialFile) throws(FileError) {
        let (length, modifiedAt) = (attributes.length, attributes.modifiedAt)
        let found = try part.length()
        guard found == length else { throw .lengthMismatch(path: part.path, expected: length, found: found) }
        if let whole = attributes.whole, try !part.facts().isSameContent(as: whole) {
            throw .partChanged(path: part.path, problem: "it was changed after its last byte was written")
        }
        let handle = try part.handle()
        let demanded = attributes.mode & 0o777
        let mode = attributes.yieldsToDirectory ? directory.modeOfNewFile(demanded) : demanded
        var refused: [PartialFile.Attribute] = []
        do throws(FileError) {
            try perform("set the mode of", on: part.path) { fchmod(handle.raw, mode_t(clamping: mode)) }
        } catch {
            guard error.isRefusal else { throw error }
            // What the file system gives all its files may be that mode.
            if FileStatus(try status(of: handle.raw, path: part.path)).mode & 0o777 != mode { refused.append(.mode) }
        }
        do throws(FileError) {
            if let modifiedAt { try setModificationTime(modifiedAt, of: handle, path: part.path) }
        } catch {
            guard error.isRefusal else { throw error }
            refused.append(.modificationTime)
        }
        part.record(refused: refused)
    }

    /// Gives the part its final name atomically; a file that has the name is never replaced unless `isReplacing`.
    ///
    /// - Parameters:
    ///   - intent: as committed: the final name, and the identity of the part.
    ///   - partName: the part's name.
    ///   - isReplacing: one plain rename, which replaces a symbolic link, not its target.
    /// - Throws: `partChanged` when the part is missing, changed or another file; `notMoved`, `nameRefused`,
    ///   `isADirectory`, `system`.
    public func rename(
        _ partName: String, as intent: PublishIntent, isReplacing: Bool
    ) throws(FileError) -> RenameOutcome {
        try directory.requireSingleName(intent.finalName)
        try directory.requireStillWritable()
        try requireReady(partName, for: intent)
        return isReplacing
            ? try renameReplacing(partName, intent.finalName) : try renameKeeping(partName, intent.finalName)
    }

    public enum RenameOutcome: Hashable, Sendable {
        case published
        /// Another file got the name meanwhile: choose again.
        case nameTaken
    }

    /// Checks the part before it is renamed. It was open since the intent was made, or has just been opened, so its
    /// inode number cannot have been reused.
    private func requireReady(_ partName: String, for intent: PublishIntent) throws(FileError) {
        let path = directory.path(of: partName)
        guard let found = try directory.status(of: partName) else {
            throw .partChanged(path: path, problem: "it was removed")
        }
        guard isPart(found, of: intent) else {
            throw .partChanged(path: path, problem: "another file has its name")
        }
        guard found.length == intent.part.length,
            directory.traits.isSameTime(found.modificationNanoseconds, as: intent.part.modifiedAt)
        else {
            throw .partChanged(path: path, problem: "it was changed after it had been verified")
        }
    }

    /// True if an entry is the part of the intent.
    ///
    /// Its device is the part's own, which overlayfs may number otherwise than the directory; or the directory's, since
    /// a device's number may change over a restart, and the directory was identified by other means. Where a file may
    /// get another inode number with another name (FUSE), its length and its time of modification identify it.
    private func isPart(_ found: FileStatus?, of intent: PublishIntent) -> Bool {
        guard let found else { return false }
        let part = intent.part
        if found.identity.inode == part.identity.inode,
            found.identity.device == part.identity.device || found.identity.device == directory.identity.device
        {
            return true
        }
        return !directory.traits.keepsInodeNumbers && found.kind == .regular && found.length == part.length
            && directory.traits.isSameTime(found.modificationNanoseconds, as: part.modifiedAt)
    }

    /// Throws unless the final name is the published file's.
    ///
    /// - Throws: `destinationChanged`, `system`.
    public func requirePublished(_ intent: PublishIntent) throws(FileError) {
        guard isPart(try directory.status(of: intent.finalName), of: intent) else {
            throw .destinationChanged(
                path: directory.path(of: intent.finalName), problem: "the file was removed or replaced at once")
        }
    }

    /// Takes the final name away from a file that has no other one. Does nothing if another file has it.
    public func removeName(_ intent: PublishIntent) throws(FileError) {
        guard isPart(try directory.status(of: intent.finalName), of: intent) else { return }
        try directory.remove(intent.finalName)
    }

    /// Gives the file its partial name back, so that its bytes are kept as before `rename`. Does nothing if another
    /// file has the final name. Does not sync the directory.
    ///
    /// - Throws: `nameTaken` if another file has the partial name; else as `rename`.
    public func withdraw(_ intent: PublishIntent, to partName: String) throws(FileError) {
        guard isPart(try directory.status(of: intent.finalName), of: intent) else { return }
        guard try renameKeeping(intent.finalName, partName) == .published else {
            throw .nameTaken(path: directory.path(of: partName))
        }
    }
}

// MARK: - Renaming

extension Publisher {
    private func renameReplacing(_ partName: String, _ finalName: String) throws(FileError) -> RenameOutcome {
        let result = retryingInterrupts {
            renameat(directory.descriptor, partName, directory.descriptor, finalName)
        }
        switch result {
        case .value: return .published
        case .failure(EISDIR): throw .isADirectory(path: directory.path(of: finalName))
        case .failure(let code): throw failed(finalName, code)
        }
    }

    private func renameKeeping(_ partName: String, _ finalName: String) throws(FileError) -> RenameOutcome {
        switch directory.renameKeeping(partName, to: finalName) {
        case .value(let isRenamed): return isRenamed ? .published : .nameTaken
        case .failure(let code): throw failed(finalName, code)
        }
    }

    private func failed(_ finalName: String, _ code: Int32) -> FileError {
        Self.failure(toPublish: directory.path(of: finalName), code)
    }

    /// The error of a file that is complete and did not get its final name.
    static func failure(toPublish path: String, _ code: Int32) -> FileError {
        if DirectoryHandle.isNameRefusal(code) { return .nameRefused(path: path, code: code) }
        return [EACCES, EPERM, EROFS, EXDEV].contains(code)
            ? .notMoved(path: path, code: code) : .system(operation: "publish", path: path, code: code)
    }
}

extension FileError {
    /// True if a file system does not let this process set an attribute, or has no such attribute.
    fileprivate var isRefusal: Bool {
        guard case .system(_, _, let code) = self else { return false }
        return [EPERM, EACCES, EOPNOTSUPP, ENOSYS, EINVAL].contains(code)
    }
}

/// Sets the modification time of an open file, to the microsecond.
func setModificationTime(_ time: Timestamp, of handle: Descriptor, path: String) throws(FileError) {
    let times = [timespec(tv_sec: 0, tv_nsec: Int(XFER_UTIME_OMIT)), timespec(time)]
    try perform("set the time of", on: path) { futimens(handle.raw, times) }
}

extension timespec {
    fileprivate init(_ timestamp: Timestamp) {
        var (seconds, microseconds) = timestamp.rawValue.quotientAndRemainder(dividingBy: 1_000_000)
        if microseconds < 0 { (seconds, microseconds) = (seconds - 1, microseconds + 1_000_000) }
        self.init(tv_sec: Int(clamping: seconds), tv_nsec: Int(clamping: microseconds) * 1000)
    }
}

/// A service that runs as root publishes on behalf of users, and gives them what it published. Until then a file
/// belongs to the service: no other user can write to a file that is being received, staged or copied.
///
/// It uses a descriptor of that file, never its name, which may lead to another file.
extension PartialFile {
    /// Gives the file to the user for whom its directory was opened. Call it once the file has its final name.
    ///
    /// The owner stays as it is on a file system without owners, or where root may not change them.
    public func handOver() {
        guard let heir = directory.heir, let handle = try? handle() else { return }
        if give(handle, to: heir) { _ = fsync(handle.raw) }
    }
}

extension Publisher {
    /// Hands over a file that a previous process published; see `PartialFile.handOver`.
    func handOver(_ intent: PublishIntent) {
        guard let heir = directory.heir,
            case .value(let handle) = openDescriptor(
                at: directory.descriptor, intent.finalName, flags: O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY),
            let facts = try? status(of: handle.raw, path: directory.path)
        else { return }
        // Another user may have added a second name.
        guard facts.st_mode & S_IFMT == S_IFREG, facts.st_uid == geteuid(), facts.st_nlink == 1,
            isPart(FileStatus(facts), of: intent)
        else { return }
        if give(handle, to: heir) { _ = fsync(handle.raw) }
    }
}

/// Makes the user the owner of an open file. Returns whether that was possible.
func give(_ handle: Descriptor, to heir: FileUser) -> Bool {
    var facts = stat()
    guard fstat(handle.raw, &facts) == 0 else { return false }
    // A group that was set by a directory's set-group-id bit stays.
    let keepsGroup = heir.gid == nil || facts.st_gid != getegid()
    return fchown(handle.raw, heir.uid, keepsGroup ? gid_t.max : heir.gid ?? gid_t.max) == 0
}

extension Publisher {
    /// The names of a file whose intent was committed, but whose end was not.
    public struct Traces: Hashable, Sendable {
        /// True if the final name leads to the file.
        public var isNamed: Bool
        /// True if the file has its partial name.
        public var hasPart: Bool
    }

    /// Finds out which names the file has. Changes nothing. Blocks, where only the digest can identify the file for as
    /// long as reading takes.
    ///
    /// - Parameter partName: nil if the file had no name before its final one.
    /// - Throws: `system`; the names are then unknown, call it again later.
    public func traces(of intent: PublishIntent, partName: String?) throws(FileError) -> Traces {
        var hasPart = false
        if let partName, let part = try directory.facts(of: partName) { hasPart = isUnpublished(part, intent) }
        var isNamed = try isPublished(intent)
        if !isNamed, !hasPart {
            isNamed = partName == nil ? try isLinked(intent) : try isPublishedByFacts(intent)
        }
        return Traces(isNamed: isNamed, hasPart: hasPart)
    }

    /// True if these facts are of the part. The next publishing checks it again, so an intent of an earlier version
    /// will do.
    private func isUnpublished(_ part: FileFacts, _ intent: PublishIntent) -> Bool {
        guard directory.traits.keepsInodeNumbers else { return intent.part.length == part.length }
        return intent.part.mark.isCertain
            ? intent.part.mark.isSame(as: part.mark) : intent.part.identity.inode == part.identity.inode
    }

    /// Completes the remaining steps for a file that has its final name, and makes it durable. Blocks.
    ///
    /// - Parameter partName: its other name, which is removed: the crash happened between link and unlink. Nil if it
    ///   has none.
    public func finish(_ intent: PublishIntent, partName: String?) throws(FileError) {
        if let partName { try directory.remove(partName) }
        handOver(intent)
        // Without a journal the file is synced once it has its name; see `DirectoryHandle.sync(named:)`.
        if !directory.traits.journalsLinks { try directory.syncFile(named: intent.finalName) }
        try directory.sync()
    }

    /// Makes the absence of the final name durable, so that the intent can be deleted. Blocks.
    public func undo(_ intent: PublishIntent, partName: String?) throws(FileError) {
        if let partName { try directory.removePlaceholder(intent.finalName, for: partName) }
        // A name that was taken away must not come back after a power cut, without its intent.
        try directory.sync()
    }

    /// True if the final name leads to a file that had no name before, and that was not found by its mark or its
    /// digest.
    ///
    /// If a file system records neither birth nor generation, inode number, length and modification time are compared.
    /// That is not enough to delete a file. But a wrong result loses nothing: the bytes are fetched again.
    private func isLinked(_ intent: PublishIntent) throws(FileError) -> Bool {
        guard !intent.part.mark.isCertain, let found = try directory.facts(of: intent.finalName) else { return false }
        return found.identity.inode == intent.part.identity.inode && found.length == intent.part.length
            && found.modifiedAt == intent.part.modifiedAt
    }

    /// True if the final name leads to a file with the length and the modification time of the part, which is gone.
    ///
    /// If a file gets another inode number with its name (FUSE) and has no digest, nothing else distinguishes one that
    /// was published just before a crash from one that was lost. Not enough to delete the file.
    private func isPublishedByFacts(_ intent: PublishIntent) throws(FileError) -> Bool {
        guard !directory.traits.keepsInodeNumbers, intent.digest == nil,
            let found = try directory.facts(of: intent.finalName)
        else { return false }
        return found.length == intent.part.length
            && directory.traits.isSameTime(found.modifiedAt, as: intent.part.modifiedAt)
    }

    /// True if the final name leads to the very file of the intent, with unchanged content.
    ///
    /// An inode number may be reused at once. The time of birth, the generation, the length and the modification time
    /// together identify the file. If the file system has neither of the first two or changes inode numbers, or the
    /// modification time differs, only the digest does, where it is known.
    public func isPublished(_ intent: PublishIntent) throws(FileError) -> Bool {
        guard let found = try directory.facts(of: intent.finalName), found.length == intent.part.length else {
            return false
        }
        let isSame = intent.part.mark.isSame(as: found.mark)
        guard isSame || !directory.traits.keepsInodeNumbers else { return false }
        if isSame, intent.part.mark.isCertain, found.modifiedAt == intent.part.modifiedAt { return true }
        guard let digest = intent.digest else { return false }
        do throws(FileError) {
            let file = try ReadableFile(in: directory, named: intent.finalName)
            return try file.digest(digest.algorithm, length: found.length) == digest
        } catch {
            switch error {
            case .missing, .lengthMismatch, .digestUnavailable: return false
            default: throw error
            }
        }
    }
}
