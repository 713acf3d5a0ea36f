/// The proxy a request goes through.
public struct ProxySettings: Hashable, Sendable, Codable {
    /// `http://`, `https://` or `socks5h://` with host and port, without user info.
    public var url: String
    /// Shown to the proxy only.
    public var credential: Credential?
    /// Hosts that are reached directly: names with their subdomains, addresses and CIDR blocks (CURLOPT_NOPROXY(3)).
    public var exceptions: [String]

    public init(url: String, credential: Credential? = nil, exceptions: [String] = []) {
        self.url = url
        self.credential = credential
        self.exceptions = exceptions
    }
}
