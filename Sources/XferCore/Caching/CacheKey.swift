public import XferModel

/// The key of a kept response. A request with the same key may use the response if the fields that `Vary` names are
/// equal, too.
///
/// Made of the URL, or what a rule makes of it, and of everything that decides whether the response is for this caller
/// at all: the owner, the request's credentials, the task's own trust policy (the host's policy is checked when the
/// response is used), and which redirects the request may follow. A digest with a key of the database, as
/// `CoalesceKey`.
public struct CacheKey: Hashable, Sendable {
    /// The digest.
    public let bytes: [UInt8]

    /// Nil when it cannot be computed.
    public init?(_ specification: TaskSpecification, digest: KeyedDigest) {
        let request = specification.request
        var words = CanonicalKeyEncoder()
        words.add(Self.form)
        words.add(specification.owner.description)
        words.add(request.caching.key.text(for: request.url))
        words.add(specification.policy)
        words.add(request.usesProfileSecrets || request.usesCookies ? specification.profile : nil)
        words.add(request.redirect.rawValue)
        words.add(request.allowsDowngrade.description)
        words.addIdentity(of: request)
        guard let bytes = digest(words.bytes) else { return nil }
        self.bytes = bytes
    }

    /// Changes with what a key is made of, so that kept keys of another form match nothing. Under form 1, an
    /// unrequested partial response may have been kept as the whole.
    private static let form = "cache key 2"
}
