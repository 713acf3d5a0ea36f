public import XferModel

/// The treatment of the kept bytes and of the body, decided from the response's head.
///
/// Kept bytes are discarded on disk before bytes of another version are written. Therefore `restart` waits for
/// the manager, and `startOver` ends the attempt.
public enum HeadVerdict: Hashable, Sendable {
    /// The body continues, or begins, the kept bytes.
    case write(BodyPlan)
    /// The body is a whole version from its first byte while bytes of another one are kept: discard those, then
    /// continue.
    case restart(BodyPlan, RestartReason)
    /// All bytes are here already; the body is not needed.
    case complete
    /// The body cannot be used: request the whole. The kept bytes are discarded when it begins to arrive.
    case startOver(RestartReason)
    /// Repeat the request with `Range` but without `If-Range`; see `RequestPlan.fallback`.
    case retryPlainRange(RestartReason)
    /// Repeat the request for the same range with this proof; see `ConditionProof`.
    case proveCondition(ConditionProof)
    /// The published file is current (`on_conflict: update`).
    case notModified
    /// The answer does not look like the file of which bytes are kept: keep them and the doubt, and repeat the request
    /// later.
    case suspect(AnswerDoubt, TransferError)
    case fail(TransferError)
}

/// The octets of the representation that a body contains.
public struct BodyPlan: Hashable, Sendable {
    /// The number of octets at the start of the body that are discarded, because they are kept already.
    public var skip: Int64
    /// Offset within the representation of the first octet that is written.
    public var offset: Int64
    /// The first offset after the body; nil if the body's length is unknown.
    public var end: Int64?
    /// Complete length of the representation, nil while unknown.
    public var total: Int64?
    /// The offset at which this attempt's work ends: the segment's end or the total; nil if the length is unknown.
    public var goal: Int64?
    /// True if nothing but a demanded digest shows that the body is of the version of the kept bytes.
    public var isUnproven: Bool

    public init(
        skip: Int64 = 0, offset: Int64, end: Int64?, total: Int64?, goal: Int64? = nil, isUnproven: Bool = false
    ) {
        self.skip = skip
        self.offset = offset
        self.end = end
        self.total = total
        self.goal = goal ?? total
        self.isUnproven = isUnproven
    }
}

/// The meaning of a body's clean end.
public enum BodyEndVerdict: Hashable, Sendable {
    case complete
    /// A short 206 is legal: request the rest.
    case askOn
    case fail(TransferError)
}

/// The reason why kept bytes cannot be continued.
public enum RestartReason: Hashable, Sendable, CustomStringConvertible {
    case etagChanged
    case lastModifiedChanged
    case lengthChanged(kept: Int64, now: Int64)
    case codingChanged
    case validatorMissing
    case noStrongValidator
    case codedBody
    case rangeIgnored
    case rangeNotSatisfiable
    case methodWithoutRanges
    /// The server refuses requests for the rest, and the whole was requested in their place.
    case rangeRefused
    case unusableRange(String)

    /// True if the source is, or may be, another version now: the event `task.source_changed` is due.
    public var isSourceChange: Bool {
        switch self {
        case .etagChanged, .lastModifiedChanged, .lengthChanged, .codingChanged, .rangeNotSatisfiable: true
        case .validatorMissing, .noStrongValidator, .codedBody, .rangeIgnored, .methodWithoutRanges, .rangeRefused,
            .unusableRange:
            false
        }
    }

    public var description: String {
        switch self {
        case .etagChanged: "the entity tag differs"
        case .lastModifiedChanged: "the modification date differs"
        case .lengthChanged(let kept, let now): "the length was \(kept) and is \(now)"
        case .codingChanged: "the content coding differs"
        case .validatorMissing: "the response lacks the kept validator"
        case .noStrongValidator: "the server sent nothing that distinguishes versions"
        case .codedBody: "a content-coded body cannot be continued"
        case .rangeIgnored: "the server sent the whole instead of the range"
        case .rangeNotSatisfiable: "the server no longer has the range"
        case .methodWithoutRanges: "only a GET can request the rest"
        case .rangeRefused: "the server refuses to send the rest, and nothing shows that the whole is the same version"
        case .unusableRange(let detail): "the server's range cannot be used: \(detail)"
        }
    }
}
