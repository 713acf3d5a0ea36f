import Glibc

/// A port of 127.0.0.1 where connections are refused: it is bound, so that no other process gets it, and never listened
/// on. It is released with the last reference: keep one (`withExtendedLifetime`).
public final class ClosedPort: Sendable {
    public let number: Int
    private let descriptor: Int32

    public init() throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw PosixError("socket") }
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = inet_addr("127.0.0.1")
        var length = socklen_t(MemoryLayout<sockaddr_in>.size)
        let found = withUnsafeMutablePointer(to: &address) { [descriptor] pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                bind(descriptor, $0, length) == 0 && getsockname(descriptor, $0, &length) == 0
            }
        }
        number = Int(UInt16(bigEndian: address.sin_port))
        // Everything is set: `deinit` closes it then, too.
        guard found else { throw PosixError("bind") }
    }

    deinit { close(descriptor) }

    public func url(_ path: String) -> String { "http://127.0.0.1:\(number)\(path)" }
}

/// Port numbers without a listener at this moment.
public enum FreePort {
    /// A port of 127.0.0.1 that the kernel chose and that is free again, but not reserved.
    public static func any() throws -> Int { try ClosedPort().number }
}
