import CLinux
import Glibc

extension FilePermissions {
    /// Of an open file; O_PATH is enough.
    init(of handle: Descriptor, _ facts: stat) {
        self.init(
            owner: facts.st_uid, group: facts.st_gid, mode: UInt16(clamping: facts.st_mode & 0o777),
            list: Self.list(of: handle))
    }

    private static func list(of handle: Descriptor) -> List {
        guard xfer_decides_by_mode(handle.raw) else { return .unknown }
        // By way of /proc: fgetxattr(2) refuses O_PATH.
        let path = "/proc/self/fd/\(handle.raw)"
        var bytes = [UInt8](repeating: 0, count: 4 + 8 * 64)
        for _ in 0..<4 {
            let count = xfer_read_attribute(path, "system.posix_acl_access", &bytes, UInt(bytes.count))
            if count >= 0 { return AccessList(Array(bytes[..<count])).map(List.list) ?? .unknown }
            switch errno {
            case ENODATA, EOPNOTSUPP: return .none
            case ERANGE where bytes.count < 1 << 16: bytes = [UInt8](repeating: 0, count: 1 << 16)
            case EINTR: continue
            default: return .unknown
            }
        }
        return .unknown
    }
}
