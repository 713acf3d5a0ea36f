import Glibc

/// An IP address, read as inet_pton(3) does: without short forms, zones or names.
struct NumericAddress: Hashable, Sendable {
    let isIPv6: Bool
    private let bytes: [UInt8]

    init?(_ text: String) {
        var four = [UInt8](repeating: 0, count: 4)
        if inet_pton(AF_INET, text, &four) == 1 {
            isIPv6 = false
            bytes = four
            return
        }
        var six = [UInt8](repeating: 0, count: 16)
        guard inet_pton(AF_INET6, text, &six) == 1 else { return nil }
        isIPv6 = true
        bytes = six
    }

    /// The addresses of loopback: 127.0.0.0/8 (RFC 1122 §3.2.1.3) and ::1 (RFC 4291 §2.5.3).
    var isLoopback: Bool {
        isIPv6 ? bytes.dropLast().allSatisfy { $0 == 0 } && bytes.last == 1 : bytes.first == 127
    }

    var isUnspecified: Bool { bytes.allSatisfy { $0 == 0 } }

    /// The network that one client has for itself: an IPv4 address, also in the form of IPv6 (RFC 4291 §2.5.5.2), or
    /// the first 64 bits of an IPv6 address.
    var site: [UInt8] {
        guard isIPv6, !bytes.prefix(10).allSatisfy({ $0 == 0 }) else { return bytes }
        return Array(bytes.prefix(8))
    }
}
