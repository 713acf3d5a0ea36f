/// Hosts that are reached without the proxy, in the syntax of CURLOPT_NOPROXY(3): names, which include all names below
/// them, addresses, CIDR blocks, and `*` for every host.
///
/// Only names and literal addresses are compared: names are resolved by the proxy.
public enum ProxyExceptions {
    /// True if the exceptions contain a host.
    ///
    /// - Parameter host: the host in the form of `HTTPURL.host`.
    public static func contain(_ host: String, in exceptions: [String]) -> Bool {
        let name = ServerName(host: host)
        return exceptions.contains { matches($0, name) }
    }

    /// True if the text is a name, an address, a block or `*`.
    public static func isValid(_ exception: String) -> Bool {
        if exception == "*" || block(exception) != nil { return true }
        guard let pattern = pattern(exception) else { return false }
        return pattern.port == nil
    }

    private static func matches(_ exception: String, _ host: ServerName) -> Bool {
        if exception == "*" { return true }
        switch host {
        case .address(let address):
            guard let block = block(exception) else { return false }
            return address.certainMeanings().contains { block.contains($0) }
        case .domain:
            return pattern(exception)?.matches(host, port: 0) ?? false
        }
    }

    private static func block(_ text: String) -> AddressBlock? {
        let isBracketed = text.hasPrefix("[") && text.hasSuffix("]")
        return AddressBlock(isBracketed ? text.dropFirst().dropLast() : text[...])
    }

    private static func pattern(_ text: String) -> HostPattern? {
        guard !text.contains("*") else { return nil }
        return try? HostPattern(text.hasPrefix(".") ? text : "." + text)
    }
}
