public import XferModel

/// The rules for continuing a download over HTTP (RFC 9110 §13.1.5, §14, §15.3.7, §15.5.17) without ever mixing two
/// versions.
///
/// `plan` decides what to request, `judge` what the answer's head means, `judgeEnd` what the end of its body means,
/// `resumeData` what to keep. All pure: no I/O and no clock.
public enum ResumeRules {
    /// Decides what to request.
    ///
    /// - Parameters:
    ///   - kept: the result of earlier attempts; an empty value requests the whole.
    ///   - segment: the part of it that this attempt fetches; nil is the first kept segment, else the whole. A segment
    ///     with an end is requested as a range even if nothing of it is kept, since other attempts fetch the rest of
    ///     the same version.
    ///   - allowsUnsafe: continue regardless of the validators (`resume: unsafe`), if the lengths are equal.
    ///   - joinsUnderDigest: the same, because a digest of the client will verify the finished bytes, and combined
    ///     bytes have not been wrong yet.
    ///   - source: the client's URL, from which redirects may lead to others.
    ///   - method: only a GET is continued.
    ///   - plainRange: this is the one retry without `If-Range`.
    ///   - proof: the known behaviour of the server with `If-Range`.
    ///   - isRangeRefused: the server refuses requests for the rest: the whole is requested, and the kept bytes are
    ///     skipped if it is of their version.
    ///   - part: the part of the source that is the whole for the task. Heads are judged in the form of `PartView`.
    ///   - maxSize: the greatest length of the whole.
    public static func plan(
        kept: ResumeData, segment: Segment? = nil, source: HTTPURL? = nil, method: HTTPMethod = .get,
        allowsUnsafe: Bool = false, joinsUnderDigest: Bool = false,
        plainRange: Bool = false, proof: ConditionProof = .none, isRangeRefused: Bool = false,
        conditions: [HeaderField] = [], acceptedStatus: StatusSet = .success,
        acceptedTypes: [String] = [], rejectsPages: Bool = false, part: SourceRange? = nil, maxSize: Int64? = nil
    ) -> RequestPlan {
        // The length of a suffix stays the same while the source grows: only a validator shows that it is the same one.
        let mayJoin = part?.suffixLength == nil
        let fallback: RequestPlan.Guard =
            joinsUnderDigest && mayJoin ? .digest : allowsUnsafe && mayJoin ? .unsafe : .answerOnly
        let segment = segment ?? kept.segments.first ?? Segment(start: 0, committed: 0)
        func plan(_ check: RequestPlan.Guard, _ reason: RestartReason? = nil) -> RequestPlan {
            let first = proof == .lastByte ? max(0, segment.committed.subtractingSaturated(1)) : segment.committed
            let range =
                check == .none ? nil : ByteRange(first: first, last: segment.end.map { $0.subtractingSaturated(1) })
            return RequestPlan(
                kept: kept, segment: segment, source: source, range: range, check: check, fallback: fallback,
                reason: reason, method: method, conditions: conditions, acceptedStatus: acceptedStatus,
                acceptedTypes: acceptedTypes, rejectsPages: rejectsPages, part: part, maxSize: maxSize)
        }
        guard segment.committed > 0 || segment.end != nil else { return plan(.none) }
        guard method == .get else { return plan(.none, .methodWithoutRanges) }
        guard kept.contentEncoding == nil else { return plan(.none, .codedBody) }
        if isRangeRefused, segment.end == nil { return plan(.none, .rangeRefused) }
        func guarded(by check: RequestPlan.Guard) -> RequestPlan {
            guard !plainRange else { return plan(fallback) }
            var guarded = plan(check)
            guarded.proof = proof
            return guarded
        }
        switch validator(of: kept.validators) {
        case .etag(let tag): return guarded(by: .etag(tag))
        case .date(let date): return guarded(by: .date(date))
        case nil: return fallback.joinsVersions ? plan(fallback) : plan(.none, .noStrongValidator)
        }
    }

    /// True if several requests may fetch parts of the representation: it has a strong validator, a known length, and
    /// no content coding.
    public static func isSplittable(_ described: ResumeData) -> Bool {
        described.totalLength != nil && described.contentEncoding == nil && validator(of: described.validators) != nil
    }

    /// True if the kept bytes can be continued after an interruption; nil while no response has described them.
    public static func isResumable(_ kept: ResumeData, allowsUnsafe: Bool = false) -> Bool? {
        guard kept.finalURL != nil else { return nil }
        return plan(kept: kept, segment: Segment(start: 0, committed: 1), allowsUnsafe: allowsUnsafe).range != nil
    }

    /// The number of characters of a media type that are kept.
    private static let longestMediaType = 200

    enum StrongValidator: Hashable { case etag(String), date(String) }

    /// The strong validator: a strong entity tag; else, only if there is none at all, a modification date at least one
    /// second older than its response (§8.8.2.2).
    static func validator(of validators: Validators) -> StrongValidator? {
        if let tag = validators.etag, tag != Validators.unknownTag { return EntityTag.isStrong(tag) ? .etag(tag) : nil }
        guard let text = validators.lastModified, let modified = HTTPDate.parse(text),
            let date = validators.date.flatMap(HTTPDate.parse), modified.advanced(by: .seconds(1)) <= date
        else { return nil }
        return .date(text)
    }

    /// The resume data after a response that `judge` accepted: the validators of its version, the length, and the
    /// request header fields that selected it.
    ///
    /// For a continued body it is the previous resume data, with unknown values filled in; the segments are unchanged.
    /// For a new body there is a single empty segment.
    public static func resumeData(
        after head: ResponseHead, verdict: HeadVerdict, plan: RequestPlan, finalURL: HTTPURL, sent: [HeaderField]
    ) -> ResumeData {
        switch verdict {
        case .write(let body) where plan.range != nil || body.offset > 0:
            var kept = plan.kept
            kept.totalLength = kept.totalLength ?? body.total
            kept.finalURL = finalURL
            kept.doubt = nil
            // The date has shown that the version is the same.
            if kept.validators.etag == Validators.unknownTag { kept.validators = head.validators }
            return kept
        case .write(let body), .restart(let body, _):
            var new = ResumeData(
                validators: head.validators, totalLength: body.total, contentEncoding: head.contentEncoding,
                finalURL: finalURL, selectingHeaders: sent.filter { SelectingHeaders.contains($0.name) },
                segments: [Segment(start: 0, committed: 0)])
            new.mediaType = head.mediaType.map { String($0.prefix(longestMediaType)) }
            return new
        case .suspect(let doubt, _):
            var kept = plan.kept
            kept.doubt = doubt
            return kept
        case .complete, .startOver, .retryPlainRange, .proveCondition, .notModified, .fail:
            return plan.kept
        }
    }
}

/// Request header fields a server may choose a representation by (RFC 9110 §12.5). Secrets are left out: they are bound
/// to the request and sent again from there.
enum SelectingHeaders {
    static func contains(_ name: String) -> Bool {
        let lower = name.lowercased()
        return lower == "user-agent" || lower == "referer"
            || lower.hasPrefix("accept") && lower != "accept-encoding"
    }
}
