/// A change to the header fields of requests to some hosts, SDWebImage's headers filter.
public struct HeaderRule: Hashable, Sendable, Codable {
    /// Hosts that the rule applies to; empty is every host.
    public var hosts: [HostPattern]
    /// Fields that replace those with the same names.
    public var set: [HeaderField]
    /// Names of fields that are not sent.
    public var remove: [String]

    public init(hosts: [HostPattern] = [], set: [HeaderField] = [], remove: [String] = []) {
        self.hosts = hosts
        self.set = set
        self.remove = remove
    }
}
