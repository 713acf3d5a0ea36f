import CLinux

/// A message from the kernel (netlink(7)). The parser never reads outside the buffer, even if the content is invalid.
struct NetlinkMessage {
    let type: UInt16
    let flags: UInt16
    let sequence: UInt32
    let payload: ArraySlice<UInt8>

    /// The messages of a datagram, up to the first invalid one.
    static func messages(in datagram: ArraySlice<UInt8>) -> [NetlinkMessage] {
        var found: [NetlinkMessage] = []
        var rest = datagram
        while let header = rest.read(nlmsghdr.self) {
            let length = Int(clamping: header.nlmsg_len)
            guard length >= MemoryLayout<nlmsghdr>.size, length <= rest.count else { break }
            found.append(
                NetlinkMessage(
                    type: header.nlmsg_type, flags: header.nlmsg_flags, sequence: header.nlmsg_seq,
                    payload: rest.prefix(length).dropFirst(MemoryLayout<nlmsghdr>.size)))
            rest = rest.dropFirst(aligned(length))
        }
        return found
    }

    /// The attributes after the body by type (rtnetlink(7)), up to the first invalid one. If several have the same
    /// type, the last one counts.
    func attributes<Body: BitwiseCopyable>(after body: Body.Type) -> [UInt16: ArraySlice<UInt8>] {
        Self.attributes(in: payload.dropFirst(aligned(MemoryLayout<Body>.size)))
    }

    static func attributes(in bytes: ArraySlice<UInt8>) -> [UInt16: ArraySlice<UInt8>] {
        var found: [UInt16: ArraySlice<UInt8>] = [:]
        var rest = bytes
        while let header = rest.read(rtattr.self) {
            let length = Int(clamping: header.rta_len)
            guard length >= MemoryLayout<rtattr>.size, length <= rest.count else { break }
            // The two upper bits are flags (NLA_F_NESTED, NLA_F_NET_BYTEORDER).
            found[header.rta_type & 0x3FFF] = rest.prefix(length).dropFirst(MemoryLayout<rtattr>.size)
            rest = rest.dropFirst(aligned(length))
        }
        return found
    }
}

/// Rounds a length up to a multiple of 4 bytes, the alignment of netlink messages and attributes.
func aligned(_ length: Int) -> Int { (length + 3) & ~3 }

extension ArraySlice<UInt8> {
    /// The value at the beginning, in the machine's byte order; nil if there are too few bytes.
    func read<Value: BitwiseCopyable>(_ type: Value.Type) -> Value? {
        guard count >= MemoryLayout<Value>.size else { return nil }
        return withUnsafeBytes { $0.loadUnaligned(as: Value.self) }
    }
}
