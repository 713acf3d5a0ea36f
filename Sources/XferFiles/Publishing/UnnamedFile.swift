import CLinux
import Glibc
public import XferModel

/// A whole file that gets its name at once (open(2), `O_TMPFILE`; linkat(2)). A crash before that leaves nothing.
///
/// The steps are those of `Publisher`: `create` writes, `sync` makes the content durable, then the caller commits a
/// `PublishIntent`, then `link`, then `DirectoryHandle.sync(named:)`. Every call blocks: run it on a `BlockingPool`.
public struct UnnamedFile: Sendable {
    public let directory: DirectoryHandle
    private let handle: Descriptor

    /// Writes a file with this content, mode and modification time, owned by the directory's heir. Nil if the file system has no unnamed files, or lies
    /// on another machine.
    ///
    /// - Parameters:
    ///   - mode: permission bits, 0 … 0o777.
    ///   - modifiedAt: nil leaves the time of the writing.
    /// - Throws: `notWritable`, `system`.
    public static func create(
        in directory: DirectoryHandle, _ content: [UInt8], mode: UInt16, modifiedAt: Timestamp?
    ) throws(FileError) -> UnnamedFile? {
        guard directory.isLocal else { return nil }
        try directory.requireStillWritable()
        switch openDescriptor(at: directory.descriptor, ".", flags: O_RDWR | Int32(XFER_O_TMPFILE), mode: 0o600) {
        case .value(let handle):
            let file = UnnamedFile(directory: directory, handle: handle)
            try writeAll(content, to: handle, path: directory.path)
            try perform("set the mode of a file in", on: directory.path) {
                fchmod(handle.raw, mode_t(clamping: mode & 0o777))
            }
            if let modifiedAt { try setModificationTime(modifiedAt, of: handle, path: directory.path) }
            // It cannot be reached before it has a name.
            if let heir = directory.heir { _ = give(handle, to: heir) }
            beginWriting(handle)
            return file
        case .failure(let code) where [EOPNOTSUPP, EISDIR, ENOENT, EINVAL].contains(code): return nil
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
    /// - Throws: `notMoved`, `invalidName`, `system`.
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
            let path = directory.path(of: name)
            throw [EACCES, EPERM, EROFS, EXDEV].contains(code)
                ? .notMoved(path: path, code: code) : .system(operation: "publish", path: path, code: code)
        }
    }
}

extension DirectoryHandle {
    /// Makes the names of files that were linked durable.
    ///
    /// Without a journal, a synced directory has the names alone: the inodes still say that nothing links to them, and
    /// after a power cut the file system check deletes the files. There the files are synced again, before their names.
    public func sync(named files: [UnnamedFile]) throws(FileError) {
        if !journalsLinks { for file in files { try file.sync() } }
        try sync()
    }

    /// Whether names and link counts reach the disk together. False where that cannot be found out.
    var journalsLinks: Bool {
        let type = xfer_file_system_type(descriptor)
        // ext2 and ext3 have the same number; the others are never without a log of their changes.
        guard type == UInt(EXT4_SUPER_MAGIC) else { return isLocal }
        var target = [CChar](repeating: 0, count: Int(PATH_MAX))
        let link = "/sys/dev/block/\(xfer_major(identity.device)):\(xfer_minor(identity.device))"
        let length = readlink(link, &target, target.count - 1)
        guard length > 0 else { return false }
        let path = String(decoding: target.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        guard let device = path.split(separator: "/").last, let listing = opendir("/proc/fs/jbd2") else { return false }
        defer { closedir(listing) }
        while let entry = readdir(listing) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) {
                String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
            }
            // DEVICE-INODE for a journal within the file system, whose name may have ! for /.
            if name.hasPrefix("\(device)-") { return true }
        }
        return false
    }
}
