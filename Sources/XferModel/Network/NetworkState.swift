/// Whether hosts beyond this machine's own networks can be reached, and whether that costs money.
///
/// Class of origin: AFNetworkReachabilityManager, whose WWAN became `metered`.
public enum NetworkState: String, Sendable, Codable, CaseIterable {
    /// The network is not monitored, or reading its state failed. Counts as online.
    case unknown
    /// No usable default route. Hosts in the machine's own networks may still be reachable.
    case offline
    /// The preferred default route leads over an interface that costs money.
    case metered
    case unmetered
}
