import CLinux
import Glibc
public import XferModel

/// A directory that was opened beneath allowed roots, remembered without being kept open: two system calls tell whether
/// its path leads to it still, where opening it takes some thirty.
///
/// Only of file systems on this machine's own disks, or in its memory: those calls never wait for another one.
public struct AdmittedDirectory: Sendable {
    public let identity: FileIdentity
    private let path: String

    /// Nil when its file system may keep callers waiting.
    ///
    /// - Parameter path: what it was opened by.
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
