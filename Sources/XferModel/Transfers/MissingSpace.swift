/// The space that a failed run lacked, with which the service finds out without a request that there is room again.
public struct MissingSpace: Hashable, Sendable, Codable {
    /// A directory on the file system that lacks it; nil if the failure did not say which one.
    public var directory: String?
    /// The bytes that the next run writes there, without the reserve.
    public var needed: Int64
    /// True if the bytes may use the reserve: those of a body without a length, which is not known to leave it free.
    public var usesReserve = false
    /// The number of runs in a row that lacked space without progress in between.
    public var failures = 0
    /// The number of checks since the last run.
    public var checks = 0

    public init(in directory: String? = nil, needed: Int64 = 0) {
        self.directory = directory
        self.needed = needed
    }
}
