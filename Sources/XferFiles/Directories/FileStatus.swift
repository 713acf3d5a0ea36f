import CLinux
import Glibc
public import XferModel

/// What is known of a file without opening it (stat(2)).
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
    /// When its content was last changed.
    public let modifiedAt: Timestamp
    /// The same in nanoseconds since 1970.
    let modificationNanoseconds: Int64

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
