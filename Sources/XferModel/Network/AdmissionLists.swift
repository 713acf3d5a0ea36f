/// The operator's lists of hosts and addresses that requests may or may not go to. `XferCore.AdmissionRules` applies
/// them.
public struct AdmissionLists: Hashable, Sendable {
    /// Hosts to which no request is sent.
    public var deniedHosts: [HostPattern]
    /// Addresses that are never connected to.
    public var deniedAddresses: [AddressBlock]
    /// If the list is not empty, requests are sent only to these hosts.
    public var allowedHosts: [HostPattern]
    /// Prefixes by which the network translates IPv6 to IPv4 (NAT64), beside the well-known ones.
    public var translationPrefixes: [TranslationPrefix]

    public init(
        deniedHosts: [HostPattern] = [], deniedAddresses: [AddressBlock] = [], allowedHosts: [HostPattern] = [],
        translationPrefixes: [TranslationPrefix] = []
    ) {
        self.deniedHosts = deniedHosts
        self.deniedAddresses = deniedAddresses
        self.allowedHosts = allowedHosts
        self.translationPrefixes = translationPrefixes
    }
}
