public import XferModel

/// The key of a cached response. A request with the same key may use the response if the fields that `Vary` lists are
/// equal, too.
///
/// It is made of the URL, or a rule's form of it, and of everything that decides whether the response is for this
/// caller at all: the owner, the request's credentials, the task's own trust policy (the host's policy is checked when
/// the response is used), the allowed redirects, and the rules for connections. Like `CoalesceKey`, it is a digest with
/// a key of the database.
public struct CacheKey: Hashable, Sendable {
    /// The digest.
    public let bytes: [UInt8]

    /// Computes the key. Returns nil when it cannot be computed.
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
        if request.connections != ConnectionRules() { words.add("\(request.connections)") }
        guard let bytes = digest(words.bytes) else { return nil }
        self.bytes = bytes
    }

    /// The form of keys. It changes with the contents of a key, so that stored keys of another form match nothing.
    /// Under form 1, an unrequested partial response may have been stored as the whole.
    private static let form = "cache key 2"
}

/// The request fields that select one of several responses to a URL: those that `Vary` lists (RFC 9111 §4.1).
///
/// They are stored as digests with the database's key, because they may contain secrets.
public enum Variant {
    /// The values of the request fields that `Vary` lists. Nil when a digest cannot be made.
    ///
    /// - Parameter fields: the fields of the request at its last hop.
    public static func selected(
        by head: ResponseHead, sent fields: [HeaderField], digest: KeyedDigest
    ) -> [HeaderField]? {
        var variant: [HeaderField] = []
        for name in names(in: head) {
            guard let value = value(of: name, in: fields, digest) else { return nil }
            variant.append(HeaderField(name: name, value: value))
        }
        return variant
    }

    /// True if a request that sends `fields` selects the response with this variant.
    public static func matches(_ variant: [HeaderField], sent fields: [HeaderField], digest: KeyedDigest) -> Bool {
        variant.allSatisfy { value(of: $0.name, in: fields, digest) == $0.value }
    }

    /// The reason why the response cannot be matched to any request; nil when it can.
    static func refusal(of head: ResponseHead, usesCookies: Bool) -> String? {
        let names = names(in: head)
        if names.contains("*") { return "the server does not state the fields by which it varies (Vary: *)" }
        // The cookies of the jar are not known here.
        if usesCookies, names.contains("cookie") { return "it varies with cookies, which change" }
        return nil
    }

    private static func names(in head: ResponseHead) -> [String] {
        let listed = head.fields.filter { $0.name.equalsIgnoringASCIICase("Vary") }.flatMap { field in
            field.value.split(separator: ",").map { $0.filter { $0 != " " && $0 != "\t" }.lowercased() }
        }
        return Set(listed.filter { !$0.isEmpty }).sorted()
    }

    /// The digest of a field's value; empty for an absent field, which matches only where it is absent, too.
    private static func value(of name: String, in fields: [HeaderField], _ digest: KeyedDigest) -> String? {
        let lines = fields.filter { $0.name.equalsIgnoringASCIICase(name) }.map(\.value)
        if lines.isEmpty { return "" }
        // Lines of one name are one list, and white space around its commas means nothing (RFC 9110 §5.3, §5.6.1).
        let elements = lines.joined(separator: ",").split(separator: ",", omittingEmptySubsequences: false)
        let normal = elements.map { $0.split(whereSeparator: { $0 == " " || $0 == "\t" }).joined(separator: " ") }
        return digest(Array(("vary " + name + ":" + normal.joined(separator: ",")).utf8)).map(hexadecimal)
    }

    private static func hexadecimal(_ bytes: [UInt8]) -> String {
        bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
