import Glibc
import XferModel

extension SpaceLedger.Room {
    /// Measures the free space at a path, without opening it; nil if there is no such directory. Blocks.
    public init?(at path: String) {
        var facts = statvfs()
        guard let identity = FileIdentity(ofPath: path), statvfs(path, &facts) == 0 else { return nil }
        self.init(
            fileSystem: identity.device,
            free: Int64(
                clamping: UInt64(clamping: facts.f_bavail).multipliedSaturated(by: UInt64(clamping: facts.f_frsize))))
    }
}
