import CLinux
import Glibc
public import XferModel

extension FileTree {
    /// What an add notes of a file that is to be sent.
    public static func source(_ path: String) throws -> SourceFile {
        var facts = stat()
        guard stat(path, &facts) == 0 else { throw PosixError("stat \(path)") }
        return SourceFile(
            path: path, identity: FileIdentity(device: UInt64(facts.st_dev), inode: UInt64(facts.st_ino)),
            length: Int64(facts.st_size),
            modifiedAt: Int64(facts.st_mtim.tv_sec) * 1_000_000_000 + Int64(facts.st_mtim.tv_nsec))
    }
}
