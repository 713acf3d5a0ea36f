public import XferModel

/// Makes the conditions that validate a kept response, and applies a `304` to it (RFC 9111 §4.3).
public enum Validation {
    /// The conditions of the request (§4.3.1): the entity tag, weak or strong, and the modification date. Empty if the
    /// response has neither.
    public static func conditions(for response: StoredResponse) -> [HeaderField] {
        let head = response.head
        let fields = [("If-None-Match", head.etag), ("If-Modified-Since", head.lastModified)]
        return fields.compactMap { name, value in value.map { HeaderField(name: name, value: $0) } }
    }

    /// The cached response after a `304` (§4.3.4), with renewed header fields and a new age. Nil if the `304` is about
    /// another response, so that the content has to be fetched.
    ///
    /// - Parameters:
    ///   - url: the URL that sent the `304`. After a redirect to another resource, an equal tag proves nothing.
    ///   - key: maps URLs of the same resource to one value.
    public static func renewed(
        _ response: StoredResponse, by head: ResponseHead, from url: HTTPURL, key: CacheKeyRule?,
        requestTime: Timestamp, responseTime: Timestamp
    ) -> StoredResponse? {
        guard key.text(for: url) == key.text(for: response.finalURL) else { return nil }
        let known = response.head
        if let tag = head.etag {
            guard let kept = known.etag, EntityTag.matchWeakly(tag, kept) else { return nil }
            // A strong tag has to be identical.
            if EntityTag.isStrong(tag), EntityTag.isStrong(kept), tag != kept { return nil }
        } else if let date = head.lastModified {
            guard date == known.lastModified else { return nil }
        }
        var renewed = response
        renewed.fields = updated(response.fields, with: head.fields)
        renewed.requestTime = requestTime
        renewed.responseTime = responseTime
        return renewed
    }

    /// The kept fields, replaced by those of a newer response (§3.2). Fields that describe the kept content stay, since
    /// the newer response has no content. A `Date` or `Age` that the newer response does not have is removed.
    public static func updated(_ kept: [HeaderField], with newer: [HeaderField]) -> [HeaderField] {
        let replacing = Storability.keptFields(of: newer).filter { !fixed.contains($0.name.lowercased()) }
        let names = Set(replacing.map { $0.name.lowercased() }).union(["age", "date"])
        return kept.filter { !names.contains($0.name.lowercased()) } + replacing
    }

    private static let fixed: Set<String> = ["content-length", "content-encoding", "content-type", "content-range"]
}

/// The cached responses that a request invalidates, because it may have changed its resource (RFC 9111 §4.4).
public enum Invalidation {
    /// URLs whose cached responses are removed after this answer; none when the request is safe or failed.
    ///
    /// - Parameters:
    ///   - url: the URL that answered.
    ///   - named: the URLs in `Location` and `Content-Location`; only those of the URL's origin count.
    public static func targets(
        of method: HTTPMethod, url: HTTPURL, status: Int, named: [HTTPURL]
    ) -> [HTTPURL] {
        guard !method.isSafe, (200...399).contains(status) else { return [] }
        var targets = [url]
        for other in named where other.origin == url.origin && !targets.contains(other) { targets.append(other) }
        return targets
    }
}
