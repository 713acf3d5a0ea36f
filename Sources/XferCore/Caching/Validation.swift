public import XferModel

/// Asking whether a kept response is still right, and what the answer means (RFC 9111 §4.3).
public enum Validation {
    /// The conditions to ask with (§4.3.1): the entity tag, weak or strong, and the modification date. Empty when there is
    /// nothing to ask by.
    public static func conditions(for response: StoredResponse) -> [HeaderField] {
        let head = response.head
        let fields = [("If-None-Match", head.etag), ("If-Modified-Since", head.lastModified)]
        return fields.compactMap { name, value in value.map { HeaderField(name: name, value: $0) } }
    }

    /// What a `304` makes of the response it is about (§4.3.4): its header fields renewed, its age counted anew. Nil when the
    /// answer speaks of another one, so that the content has to be fetched.
    ///
    /// - Parameters:
    ///   - url: where the answer came from. After a redirect to elsewhere the same tag says nothing.
    ///   - key: what stands for URLs that name the same.
    public static func renewed(
        _ response: StoredResponse, by head: ResponseHead, from url: HTTPURL, key: CacheKeyRule?,
        requestTime: Timestamp, responseTime: Timestamp
    ) -> StoredResponse? {
        guard key.text(for: url) == key.text(for: response.finalURL) else { return nil }
        let known = response.head
        if let tag = head.etag {
            guard let kept = known.etag, EntityTag.matchWeakly(tag, kept) else { return nil }
            // A strong one has to be the very same.
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

    /// The kept fields with those of a newer response in place of theirs (§3.2). What describes the content as it is kept
    /// stays: the newer one has none. A `Date` or `Age` that is not told anew goes.
    public static func updated(_ kept: [HeaderField], with newer: [HeaderField]) -> [HeaderField] {
        let replacing = Storability.keptFields(of: newer).filter { !fixed.contains($0.name.lowercased()) }
        let names = Set(replacing.map { $0.name.lowercased() }).union(["age", "date"])
        return kept.filter { !names.contains($0.name.lowercased()) } + replacing
    }

    private static let fixed: Set<String> = ["content-length", "content-encoding", "content-type", "content-range"]
}
