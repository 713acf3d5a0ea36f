/// A host as trust policies use it: the name a certificate must have, and the name host patterns are compared with.
///
/// Normalised beyond what `HTTPURL` does, so that no spelling of a host escapes its policy: no root dot, no brackets,
/// no zone, addresses by their bytes, IPv4-mapped ones as the IPv4 addresses they lead to.
public enum ServerName: Hashable, Sendable, CustomStringConvertible {
    /// Lower case, Punycode, without the root's dot.
    case domain(String)
    case address(IPAddress)

    /// - Parameter host: as in `HTTPURL.host`.
    public init(host: String) {
        if let address = IPAddress(host: host) {
            self = .address(address.unmapped)
            return
        }
        let name = host.lowercased()
        self = .domain(name.hasSuffix(".") ? String(name.dropLast()) : name)
    }

    /// The name, or the address without brackets.
    public var description: String {
        switch self {
        case .domain(let name): name
        case .address(let address): address.description
        }
    }
}
