/// A place in the daemon's stream of events: what to go on with after a restart of a program.
public struct EventPosition: Hashable, Sendable, Codable {
    /// The sequence number of the last durable event before the place; 0 is before the first.
    public var seq: Int64
    /// The database that the number belongs to; nil accepts any.
    public var storeID: String?

    /// - Parameter seq: 0…2^53.
    public init(seq: Int64, storeID: String? = nil) {
        self.seq = seq
        self.storeID = storeID
    }

    /// Before the oldest event that is kept.
    public static let oldest = EventPosition(seq: 0)
}
