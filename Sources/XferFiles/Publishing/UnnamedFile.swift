import CLinux
import Glibc
public import XferModel

/// A complete file that gets its final name directly (open(2), `O_TMPFILE`; linkat(2)). A crash before that leaves
/// nothing.
///
/// The steps are those of `Publisher`: `create` writes, `sync` makes the content durable, then the caller commits a
/// `PublishIntent`, then `link`, then `DirectoryHandle.sync(named:)`. Every call blocks: run it on a `BlockingPool`.
public struct UnnamedFile: Sendable {
    public let directory: DirectoryHandle
    private let handle: Descriptor

    /// Writes a file with this content, mode and modification time, owned by the directory's heir. Returns nil if the
    /// file system has no unnamed files, or is on another machine.
    ///
    /// - Parameters:
    ///   - mode: permission bits, 0 … 0o777.
    ///   - yieldsToDirectory: see `Publisher.Attributes.yieldsToDirectory`.
    ///   - modifiedAt: nil leaves the time of the writing.
    /// - Throws: `notWritable`, `system`.
    public static func create(
        in directory: DirectoryHandle, _ content: [UInt8], mode: UInt16, yieldsToDirectory: Bool = false,
        modifiedAt: Timestamp?
    ) throws(FileError) -> UnnamedFile? {
        guard directory.traits.isLocal, !directory.traits.lacking.contains(.unnamedFiles) else { return nil }
        try directory.requireStillWritable()
        switch openDescriptor(at: directory.descriptor, ".", flags: O_RDWR | Int32(XFER_O_TMPFILE), mode: 0o600) {
        case .value(let handle):
            let file = UnnamedFile(directory: directory, handle: handle)
            try writeAll(content, to: handle, path: directory.path)
            let bits = yieldsToDirectory ? directory.modeOfNewFile(mode) : mode
            try perform("set the mode of a file in", on: directory.path) {
                fchmod(handle.raw, mode_t(clamping: bits & 0o777))
            }
            if let modifiedAt { try setModificationTime(modifiedAt, of: handle, path: directory.path) }
            // It cannot be reached before it has a name.
            if let heir = directory.heir { _ = give(handle, to: heir) }
            beginWriting(handle)
            return file
        case .failure(let code) where [EOPNOTSUPP, EISDIR, ENOENT, EINVAL].contains(code):
            if code == EOPNOTSUPP { directory.learn(lacking: [.unnamedFiles]) }
            return nil
        case .failure(let code) where [EACCES, EPERM, EROFS].contains(code):
            throw .notWritable(path: directory.path, code: code)
        case .failure(let code): throw .system(operation: "make a file in", path: directory.path, code: code)
        }
    }

    /// Makes content, mode and times durable (fsync(2)). After an error the file must not be used: the kernel may have
    /// dropped the bytes.
    public func sync() throws(FileError) {
        try perform("write out a file in", on: directory.path) { fsync(handle.raw) }
    }

    public func facts() throws(FileError) -> FileFacts { try FileFacts(handle, path: directory.path) }

    /// Gives the file its final name; a file that has the name is never replaced. The name is durable after
    /// `DirectoryHandle.sync(named:)`.
    ///
    /// - Throws: `notMoved`, `nameRefused`, `invalidName`, `system`.
    public func link(as name: String) throws(FileError) -> Publisher.RenameOutcome {
        try directory.requireSingleName(name)
        try directory.requireStillWritable()
        // The path in /proc avoids `AT_EMPTY_PATH`, which needs a capability.
        let result = retryingInterrupts {
            linkat(AT_FDCWD, "/proc/self/fd/\(handle.raw)", directory.descriptor, name, AT_SYMLINK_FOLLOW)
        }
        switch result {
        case .value: return .published
        case .failure(EEXIST): return .nameTaken
        case .failure(let code):
            throw Publisher.failure(toPublish: directory.path(of: name), code)
        }
    }
}

extension DirectoryHandle {
    /// Makes the names of files that were linked durable.
    ///
    /// Without a journal, syncing a directory makes only the names durable: the inodes still say that nothing links to
    /// them, and after a power cut the file system check deletes the files. On such file systems the files are synced
    /// again, before their names.
    public func sync(named files: [UnnamedFile]) throws(FileError) {
        if !traits.journalsLinks { for file in files { try file.sync() } }
        try sync()
    }

    /// Syncs a file that already has its name. A missing file is no error.
    func syncFile(named name: String) throws(FileError) {
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
        switch openDescriptor(at: descriptor, name, flags: flags) {
        case .value(let handle): try perform("write out", on: path(of: name)) { fsync(handle.raw) }
        case .failure(let code) where [ENOENT, EACCES].contains(code): break
        case .failure(let code): throw .system(operation: "open", path: path(of: name), code: code)
        }
    }
}
