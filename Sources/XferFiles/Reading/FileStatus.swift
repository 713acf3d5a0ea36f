import CLinux
import Glibc
public import XferModel

/// The facts that stat(2) reports about a file.
public struct FileStatus: Hashable, Sendable {
    public enum Kind: Hashable, Sendable { case regular, directory, symbolicLink, other }

    public let identity: FileIdentity
    public let kind: Kind
    /// Length in bytes.
    public let length: Int64
    /// Uid of the owner.
    public let owner: UInt32
    /// Permission bits, 0 … 0o7777.
    public let mode: UInt16
    /// The time of the last change of the file's content, to the microsecond.
    public let modifiedAt: Timestamp
    /// The same time in nanoseconds since 1970; see `FileTime`.
    public let modificationNanoseconds: Int64

    init(_ facts: stat) {
        identity = FileIdentity(facts)
        kind =
            switch facts.st_mode & S_IFMT {
            case S_IFREG: .regular
            case S_IFDIR: .directory
            case S_IFLNK: .symbolicLink
            default: .other
            }
        length = Int64(clamping: facts.st_size)
        owner = facts.st_uid
        mode = UInt16(facts.st_mode & 0o7777)
        modifiedAt = Timestamp(seconds: facts.st_mtim.tv_sec, nanoseconds: facts.st_mtim.tv_nsec)
        modificationNanoseconds = facts.modificationNanoseconds
    }
}

extension FileMark {
    /// The mark of an open file. It includes facts that stat(2) does not report: the birth time and the inode
    /// generation.
    init(_ descriptor: Int32, _ identity: FileIdentity) {
        var born: Int64 = 0
        var generation: UInt32 = 0
        self.init(
            identity: identity, bornAt: xfer_birth_time(descriptor, &born) == 0 ? born : nil,
            generation: xfer_inode_generation(descriptor, &generation) == 0 ? generation : nil)
    }
}

extension FileFacts {
    /// The facts of an open file.
    init(_ handle: Descriptor, path: @autoclosure () -> String) throws(FileError) {
        let facts = try status(of: handle.raw, path: path())
        self.init(
            mark: FileMark(handle.raw, FileIdentity(facts)), length: Int64(facts.st_size),
            modifiedAt: facts.modificationNanoseconds, changedAt: facts.changeNanoseconds)
    }
}

extension stat {
    /// The time of the last change of the content or the status, in nanoseconds since 1970; see `FileTime`.
    fileprivate var changeNanoseconds: Int64 {
        FileTime.nanoseconds(seconds: st_ctim.tv_sec, nanoseconds: st_ctim.tv_nsec)
    }
}

extension PartialFile {
    /// The present facts of the open file.
    public func facts() throws(FileError) -> FileFacts { try FileFacts(try handle(), path: path) }

    /// The mark that identifies the open file.
    public func mark() throws(FileError) -> FileMark { FileMark(try handle().raw, identity) }
}

extension DirectoryHandle {
    /// The facts of the regular file with this name; nil when there is none. Links are not followed.
    ///
    /// If the service may not read the file, its inode generation is unknown. On a file system that has generations,
    /// the facts then never equal those of a file that was opened for reading.
    public func facts(of name: String) throws(FileError) -> FileFacts? {
        try requireSingleName(name)
        // `O_NONBLOCK`, because the name may be that of a FIFO.
        let flags = O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
        var opened = openDescriptor(at: descriptor, name, flags: flags | O_RDONLY)
        if case .failure(EACCES) = opened {
            opened = openDescriptor(at: descriptor, name, flags: flags | Int32(XFER_O_PATH))
        }
        switch opened {
        case .value(let handle):
            guard FileStatus(try XferFiles.status(of: handle.raw, path: path(of: name))).kind == .regular else {
                return nil
            }
            return try FileFacts(handle, path: path(of: name))
        case .failure(let code) where [ENOENT, ELOOP, ENXIO].contains(code): return nil
        case .failure(let code): throw .system(operation: "open", path: path(of: name), code: code)
        }
    }
}
