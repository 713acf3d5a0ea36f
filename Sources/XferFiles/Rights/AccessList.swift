/// A POSIX access control list (acl(5)) as the kernel returns it in the attribute `system.posix_acl_access`.
struct AccessList: Hashable {
    enum Tag: Hashable {
        case owner, user(UInt32), owningGroup, group(UInt32), mask, other
    }

    struct Entry: Hashable {
        let tag: Tag
        /// Bits 4 read, 2 write, 1 search or execute.
        let permissions: UInt16
    }

    let entries: [Entry]

    init(entries: [Entry]) { self.entries = entries }

    /// Parses version 2, then eight bytes for each entry, little-endian (linux/posix_acl_xattr.h). Nil for other bytes.
    init?(_ bytes: [UInt8]) {
        func word(_ offset: Int, _ count: Int) -> UInt32 {
            bytes[offset..<offset + count].reversed().reduce(0) { $0 << 8 | UInt32(clamping: $1) }
        }
        guard bytes.count >= 4, bytes.count % 8 == 4, word(0, 4) == 2 else { return nil }
        var entries: [Entry] = []
        for offset in stride(from: 4, to: bytes.count, by: 8) {
            let (permissions, id) = (word(offset + 2, 2), word(offset + 4, 4))
            guard permissions <= 7 else { return nil }
            let tag: Tag
            switch word(offset, 2) {
            case 0x01: tag = .owner
            case 0x02: tag = .user(id)
            case 0x04: tag = .owningGroup
            case 0x08: tag = .group(id)
            case 0x10: tag = .mask
            case 0x20: tag = .other
            default: return nil
            }
            entries.append(Entry(tag: tag, permissions: UInt16(clamping: permissions)))
        }
        self.entries = entries
    }

    func permissions(_ tag: Tag) -> UInt16? { entries.first { $0.tag == tag }?.permissions }
}
