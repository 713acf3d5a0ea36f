extension Origin {
    /// Reads `scheme://host[:port]` with a scheme of http or https; nil for everything else, also with a path or user
    /// info.
    ///
    /// The host's name is ASCII: an internationalised one is written in Punycode.
    public init?(_ text: String) {
        guard let slashes = text.firstRange(of: "://"),
            let scheme = HTTPURL.Scheme(rawValue: text[..<slashes.lowerBound].lowercased())
        else { return nil }
        var rest = text[slashes.upperBound...]
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        guard !rest.contains("/"), !rest.contains("%"), let pattern = try? HostPattern(String(rest)),
            pattern.kind == .exact
        else { return nil }
        let host =
            switch pattern.name {
            case .domain(let name): name
            case .address(let address): address.isIPv6 ? "[\(address)]" : address.description
            }
        self.init(scheme: scheme, host: host, port: pattern.port ?? scheme.defaultPort)
    }

    /// As `init(_:)` reads it, without a scheme's own port.
    public var text: String {
        port == scheme.defaultPort ? "\(scheme.rawValue)://\(host)" : "\(scheme.rawValue)://\(host):\(port)"
    }
}
