/// Which URLs may be loaded at all, as the operator wrote it. What the lists mean: `XferCore.AdmissionRules`.
public struct AdmissionLists: Hashable, Sendable {
    /// Hosts that are never asked.
    public var deniedHosts: [HostPattern]
    /// Addresses that are never connected to.
    public var deniedAddresses: [AddressBlock]
    /// If there are any, no other hosts are asked.
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
