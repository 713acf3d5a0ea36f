import XferModel

/// A token of clients on the network.
struct FleetToken: Hashable, Sendable {
    /// The id, which is never used again.
    let id: Int64
    let name: String
    /// SHA-256 in hexadecimal.
    let digest: String
    /// The user the token acts for, by a name that all nodes share.
    let owner: String
    let scope: TokenScope
    let createdAt: Timestamp
    /// The expiry; nil is never.
    let expiresAt: Timestamp?

    /// The highest number of tokens that may exist.
    static let limit = 1000
}

/// The result of adding a token.
enum FleetTokenOutcome: Hashable, Sendable {
    case added(FleetToken)
    case nameTaken
    /// The fleet already has `FleetToken.limit` tokens.
    case tooMany
}
