import CLinux
import Glibc
import XferModel

extension DirectoryHandle {
    /// The permission bits of a file that a program makes here with open(2) and 0666: where the directory has a default
    /// access control list, that decides instead of the umask (acl(5), "Object creation and default ACLs").
    ///
    /// - Parameter ordinary: the bits where it has none.
    func modeOfNewFile(_ ordinary: UInt16) -> UInt16 {
        // Nearly no directory has one.
        let size = xfer_default_access_list(descriptor, nil, 0)
        guard size > 0 else { return ordinary }
        var list = [UInt8](repeating: 0, count: Int(clamping: size))
        let length = xfer_default_access_list(descriptor, &list, UInt(list.count))
        guard length > 0, let found = DefaultAccessList(list.prefix(Int(clamping: length))) else { return ordinary }
        return found.mode & 0o666
    }
}

/// The access control list that new files of a directory inherit (linux/posix_acl_xattr.h).
struct DefaultAccessList {
    /// The bits of the owner, of the mask or else the owning group, and of others. With these bits a file has all that
    /// the list permits.
    let mode: UInt16

    /// Reads the attribute; nil if the list is not one of version 2 with its three base entries.
    init?(_ bytes: some Collection<UInt8>) {
        let bytes = Array(bytes)
        func number(_ start: Int) -> UInt16 { UInt16(clamping: bytes[start]) | UInt16(clamping: bytes[start + 1]) << 8 }
        guard bytes.count >= 4, number(0) == 2, number(2) == 0, (bytes.count - 4).isMultiple(of: 8) else { return nil }
        var owner: UInt16?
        var group: UInt16?
        var mask: UInt16?
        var others: UInt16?
        for start in stride(from: 4, to: bytes.count, by: 8) {
            let permissions = number(start + 2) & 7
            switch number(start) {
            case 0x01: owner = permissions
            case 0x04: group = permissions
            case 0x10: mask = permissions
            case 0x20: others = permissions
            default: break
            }
        }
        guard let owner, let group, let others else { return nil }
        mode = owner << 6 | (mask ?? group) << 3 | others
    }
}
