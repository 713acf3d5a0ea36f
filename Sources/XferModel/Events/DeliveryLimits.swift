/// The bound of what may wait for webhooks of one user's events, so that no user fills the state's disk or displaces
/// the events of others.
public struct DeliveryLimits: Hashable, Sendable {
    /// The highest number of bytes of one user's deliveries that wait; the next one is discarded.
    public var bytesPerUser: Int64
    /// The users without a limit.
    public var unlimited: Set<Owner>

    public init(bytesPerUser: Int64 = .max, unlimited: Set<Owner> = []) {
        self.bytesPerUser = bytesPerUser
        self.unlimited = unlimited
    }

    /// The bytes for which a delivery counts beside its text: its row and the index of it.
    public static let overhead: Int64 = 256

    /// The limit of the owner of an event; nil for the service's events and for users without one.
    public func limit(of owner: Owner?) -> Int64? {
        guard let owner, !unlimited.contains(owner) else { return nil }
        return bytesPerUser
    }
}
