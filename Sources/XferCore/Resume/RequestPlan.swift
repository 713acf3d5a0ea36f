public import XferModel

/// The evidence that a server honours `If-Range`, as its answers within an attempt have shown.
///
/// A part has to come with the entity tag of the whole, but without its modification date (RFC 9110 §15.3.7). Some
/// servers leave out the tag, too. Such a part answers `If-Range` with the kept validator, so it is of the kept version
/// (§13.1.5), provided that the server honours that field. Not all do. So the same range is requested under a validator
/// that the kept version does not have: a server that honours the field sends the whole, of which nothing is kept. If
/// that shows the kept validator and length, the version is still the same, and the first request is repeated.
public enum ConditionProof: Hashable, Sendable {
    case none
    /// The request has a validator that the kept version does not have.
    case requested
    /// The server has answered that validator with the whole of the kept version.
    case honoured
    /// The request begins at the last kept byte. The server has nothing after the kept bytes, whose length was not
    /// known, and has not shown their validator: its part tells the version and the length.
    case lastByte
}

/// The next request, derived from the kept bytes (`ResumeRules.plan`), and the checks of its answer.
public struct RequestPlan: Hashable, Sendable {
    /// The means by which the request ensures that a range is of the kept version.
    public enum Guard: Hashable, Sendable {
        /// No guard: the whole is requested.
        case none
        /// `If-Range` with a strong entity tag.
        case etag(String)
        /// `If-Range` with a strong modification date.
        case date(String)
        /// `Range` alone; the answer's entity tag has to match.
        case answerOnly
        /// No guard: the client chose `resume: unsafe`. Only length and coding are compared.
        case unsafe
        /// No guard: a demanded digest verifies the finished bytes. Only length and coding are compared.
        case digest

        /// True if bytes whose validators differ may be continued, if the lengths are equal.
        var joinsVersions: Bool { self == .unsafe || self == .digest }
    }

    public let kept: ResumeData
    public let segment: Segment
    /// The client's URL, from which redirects may lead to others; nil if it is not relevant.
    public let source: HTTPURL?
    public let range: ByteRange?
    public let check: Guard
    /// The check of a request without `If-Range`: for the one that follows a refused `If-Range`, and for a server that
    /// sends a range although the condition failed.
    public let fallback: Guard
    /// The reason why the whole is requested although bytes are kept.
    public let reason: RestartReason?
    /// The evidence about the server's regard for `If-Range`.
    public var proof = ConditionProof.none
    public let method: HTTPMethod
    /// `If-None-Match` or `If-Modified-Since` for `on_conflict: update`.
    public let conditions: [HeaderField]
    public let acceptedStatus: StatusSet
    /// The accepted media types of `TransferRequest`.
    public let acceptedTypes: [String]
    public let rejectsPages: Bool
    /// The part of the source that is the whole for the task; nil is all of it. Offsets of the plan count from its
    /// beginning.
    public var part: SourceRange?
    /// The greatest length of the whole in bytes; nil is unlimited.
    public var maxSize: Int64?

    /// First offset that is not kept.
    public var offset: Int64 { segment.committed }

    /// True if nothing has to be requested: the segment, or the whole, is kept to its last byte.
    public var isWhole: Bool {
        if let end = segment.end { return segment.committed >= end }
        return segment.committed > 0 && segment.committed == kept.totalLength
    }

    /// The requested range of the source: `range`, moved into the part.
    private var sentRange: String? {
        guard let part else { return range?.description }
        if let suffix = part.suffixLength {
            // The rest of a suffix is a shorter suffix. Its segments are never fetched apart.
            guard let first = range?.first else { return "-\(suffix)" }
            return "-\(max(1, (kept.totalLength ?? suffix).subtractingSaturated(first)))"
        }
        let last = range?.last.map { part.first.addingSaturated($0) }
        return ByteRange(
            first: part.first.addingSaturated(range?.first ?? 0),
            last: [last, part.last].compactMap(\.self).min()
        ).description
    }

    /// `Range`, `If-Range` and the conditions, as sent.
    public var headers: [HeaderField] {
        var fields = conditions
        if let range = sentRange { fields.append(HeaderField(name: "Range", value: "bytes=\(range)")) }
        switch check {
        case .etag(let tag):
            fields.append(HeaderField(name: "If-Range", value: proof == .requested ? EntityTag.unlike(tag) : tag))
        case .date(let date):
            fields.append(HeaderField(name: "If-Range", value: proof == .requested ? Self.unlike(date) : date))
        case .none, .answerOnly, .unsafe, .digest: break
        }
        return fields
    }

    /// A later date than that of the kept version. A server that treats `If-Range` as "not modified since" sends the
    /// part, so it does not honour the field.
    private static func unlike(_ date: String) -> String {
        HTTPDate.parse(date).map { HTTPDate.format($0.advanced(by: .seconds(1))) } ?? date
    }
}
