/// The configuration of aria2's protocol.
public struct Aria2Configuration: Hashable, Sendable {
    /// The name of the database, as `daemon.status` answers it: GIDs of tasks follow from it.
    public var storeID: String
    /// True if clients see all downloads of their token's user, and not only those that were added through the dialect.
    public var showsAll: Bool

    public init(storeID: String, showsAll: Bool = false) {
        self.storeID = storeID
        self.showsAll = showsAll
    }
}
