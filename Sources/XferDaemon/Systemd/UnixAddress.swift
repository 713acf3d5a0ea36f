import Glibc

/// A `sockaddr_un` with its exact length, for paths and for abstract names (unix(7)).
struct UnixAddress: Hashable, Sendable {
    /// The content of `sun_path`: a path without its final zero, or a zero and an abstract name.
    private let name: [UInt8]

    /// The form `NOTIFY_SOCKET` has: `/a/path`, or `@name` for an abstract one; nil for anything else or too long.
    init?(notifySocket text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count > 1, bytes.count <= InstancePaths.longestSocketPath, !bytes.contains(0) else { return nil }
        switch bytes[0] {
        case UInt8(ascii: "/"): name = bytes
        case UInt8(ascii: "@"): name = [0] + bytes.dropFirst()
        default: return nil
        }
    }

    func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        // An abstract name ends where the length says; a path carries its zero.
        let terminator = name.first == 0 ? 0 : 1
        let length =
            socklen_t(MemoryLayout.offset(of: \sockaddr_un.sun_path) ?? 2)
            + socklen_t(clamping: name.count + terminator)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
