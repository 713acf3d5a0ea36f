public import CLinux
import Glibc

/// The address of a Unix socket, with its exact length: a path or an abstract name (unix(7)).
public struct UnixAddress: Hashable, Sendable {
    /// The content of `sun_path`: a path without its final zero, or a zero and an abstract name.
    private let name: [UInt8]

    /// The highest number of bytes of a path, without the zero byte that ends it.
    public static let longestPath = MemoryLayout.size(ofValue: sockaddr_un().sun_path) - 1

    /// Creates the address of a path. Returns nil unless `path` is absolute, at most `longestPath` bytes long and free
    /// of zeros.
    public init?(path: String) {
        guard path.hasPrefix("/"), path.utf8.count <= Self.longestPath, !path.utf8.contains(0) else { return nil }
        name = Array(path.utf8)
    }

    /// Parses the value of `NOTIFY_SOCKET`: `/a/path`, or `@name` for an abstract name. Returns nil if it has another
    /// form or is too long.
    public init?(notifySocket text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count > 1, bytes.count <= Self.longestPath, !bytes.contains(0) else { return nil }
        switch bytes[0] {
        case UInt8(ascii: "/"): name = bytes
        case UInt8(ascii: "@"): name = [0] + bytes.dropFirst()
        default: return nil
        }
    }

    /// Calls `body` with the address in the form that bind(2), connect(2) and sendto(2) require.
    public func withSocketAddress<Result>(_ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
        // The length marks the end of an abstract name; a path includes its zero byte.
        let terminator = name.first == 0 ? 0 : 1
        let length =
            socklen_t(MemoryLayout.offset(of: \sockaddr_un.sun_path) ?? 2)
            + socklen_t(clamping: name.count + terminator)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, length) }
        }
    }
}
