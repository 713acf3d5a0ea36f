/// A token with which a network client acts for a user.
///
/// It has the rights of that user, narrowed to its scope. xferd stores only the token's digest.
public struct AccessToken: Hashable, Sendable {
    /// The id; never used again, so that a revoked token and a later one cannot be mistaken for each other.
    public var id: Int64
    /// The name, which is unique among the existing tokens.
    public var name: String
    /// The user it calls for.
    public var owner: Owner
    public var scope: TokenScope
    public var createdAt: Timestamp
    /// The expiry; nil is never.
    public var expiresAt: Timestamp?
    /// The directory beneath which its tasks write, absolute; nil is the directory for downloads. Tokens with the scope
    /// `operate` have none: they are not confined.
    public var directory: String?

    public init(
        id: Int64 = 0, name: String, owner: Owner, scope: TokenScope, createdAt: Timestamp,
        expiresAt: Timestamp? = nil, directory: String? = nil
    ) {
        self.directory = directory
        self.id = id
        self.name = name
        self.owner = owner
        self.scope = scope
        self.createdAt = createdAt
        self.expiresAt = expiresAt
    }

    public func isExpired(at now: Timestamp) -> Bool { expiresAt.map { $0 <= now } ?? false }
}

/// The rights of a token, within the rights of its user.
public enum TokenScope: String, Sendable, CaseIterable, Codable {
    /// The token may read the metrics, and make no calls.
    case metrics
    /// Calls that return data, events and metrics.
    case read
    /// Calls that add tasks, and nothing else.
    case add
    /// Calls that return data, add tasks, or change objects of the user.
    case own
    /// Every call of the user.
    case operate
}

/// Secrets that cannot be guessed.
public enum RandomText {
    /// A random text of 256 bits from the kernel (getrandom(2)), as 64 hexadecimal digits.
    public static func secret() -> String {
        var generator = SystemRandomNumberGenerator()
        return (0..<4).map { _ in
            let word = String(generator.next() as UInt64, radix: 16)
            return String(repeating: "0", count: 16 - word.count) + word
        }.joined()
    }
}
