/// A URL that failed permanently: requests for it are refused for a while, unless a client retries it explicitly.
///
/// Class of origin: SDWebImageManager's `failedURLs`. Contains no secrets: the URL is redacted, and a digest
/// distinguishes the entries.
public struct FailedURL: Hashable, Sendable {
    public var id: FailedURLID
    /// The URL without secrets, for people.
    public var url: String
    public var method: HTTPMethod
    /// The owner of the task that failed.
    public var owner: Owner
    /// The task that failed; it may have been removed since.
    public var taskID: TaskID
    public var error: TransferError
    public var failedAt: Timestamp

    public init(
        id: FailedURLID, url: String, method: HTTPMethod, owner: Owner, taskID: TaskID, error: TransferError,
        failedAt: Timestamp
    ) {
        self.id = id
        self.url = url
        self.method = method
        self.owner = owner
        self.taskID = taskID
        self.error = error
        self.failedAt = failedAt
    }
}

/// Identifies an entry of the failed-URL list. Never reused; a URL that fails again gets a new one.
public struct FailedURLID: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    public let rawValue: Int64

    public init(rawValue: Int64) { self.rawValue = rawValue }
    public init(_ rawValue: Int64) { self.rawValue = rawValue }

    public static func < (left: FailedURLID, right: FailedURLID) -> Bool { left.rawValue < right.rawValue }
    public var description: String { String(rawValue) }
}

/// One page of the failed-URL list.
public struct FailedURLPage: Hashable, Sendable {
    public var entries: [FailedURL]
    /// The place behind each entry.
    public var cursors: [String]
    /// The cursor of the next page, or nil on the last page.
    public var nextCursor: String?

    public init(entries: [FailedURL], cursors: [String] = [], nextCursor: String? = nil) {
        self.entries = entries
        self.cursors = cursors
        self.nextCursor = nextCursor
    }
}
