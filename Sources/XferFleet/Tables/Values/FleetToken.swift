public import XferModel

/// A token of clients on the network.
public struct FleetToken: Hashable, Sendable {
    /// The id, which is never used again.
    public let id: Int64
    public let name: String
    /// SHA-256 in hexadecimal.
    public let digest: String
    /// The user that it calls for, by a name that is the same on all nodes.
    public let owner: String
    public let scope: TokenScope
    public let createdAt: Timestamp
    /// The expiry; nil is never.
    public let expiresAt: Timestamp?

    /// The highest number of tokens that may exist.
    public static let limit = 1000
}

/// The result of adding a token.
public enum FleetTokenOutcome: Hashable, Sendable {
    case added(FleetToken)
    case nameTaken
    /// The fleet already has `FleetToken.limit` tokens.
    case tooMany
}
