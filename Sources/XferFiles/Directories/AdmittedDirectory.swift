import CLinux
import Glibc
public import XferModel

/// A directory that was opened beneath allowed roots, remembered without keeping it open. Two system calls check that
/// its path still leads to it, where opening it takes some thirty.
///
/// Only for file systems on this machine's own disks, or in its memory: there these calls never wait for another
/// machine.
public struct AdmittedDirectory: Sendable {
    public let identity: FileIdentity
    private let path: String

    /// Nil when calls to its file system may block.
    ///
    /// - Parameter path: the path it was opened by.
    public init?(_ handle: DirectoryHandle, path: String) {
        guard xfer_is_local_file_system(handle.descriptor) else { return nil }
        self.path = path
        identity = handle.identity
    }

    /// Whether the path leads to it and files may be made in it, now.
    public var isWritable: Bool {
        FileIdentity(ofPath: path) == identity && faccessat(AT_FDCWD, path, W_OK | X_OK, AT_EACCESS) == 0
    }
}
