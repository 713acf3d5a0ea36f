/// Whether the world beyond this machine's own networks can be reached, and what that costs.
///
/// Class of origin: AFNetworkReachabilityManager, whose WWAN became `metered`.
public enum NetworkState: String, Sendable, Codable, CaseIterable {
    /// The network is not monitored, or reading its state failed. Counts as online.
    case unknown
    /// No default route leads anywhere. Hosts of one's own networks may be there all the same.
    case offline
    /// What is preferred among the default routes leads over an interface that costs money.
    case metered
    case unmetered
}
