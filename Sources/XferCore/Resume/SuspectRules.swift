public import XferModel

/// Decides whether an answer to a request for the rest of a file is plausibly that file in another version.
///
/// Portals, quota pages and half-written copies answer with 200, too. Such an answer is **suspect**: the kept bytes
/// stay, the attempt fails with `unexpected_answer`, and the request is repeated with the delays of every attempt. A
/// new version is confirmed when the same answer of the same source has come `sightings` times in a row. Web pages,
/// empty answers and odd statuses are never confirmed: the task fails in the end, and keeps its bytes.
public enum SuspectRules {
    /// The number of times in a row that the same answer must arrive before it replaces the kept bytes.
    public static let sightings = 3

    /// The defect of an answer.
    public enum Reason: Hashable, Sendable {
        /// A web page, where the kept bytes are none.
        case page
        /// A success without a representation, 202 or 204, say.
        case status(Int)
        case empty
        /// Data or text, where the kept bytes are of another kind.
        case otherKind(String)
        /// The whole is shorter than the kept part of it.
        case shorter(kept: Int64, now: Int64)
        /// The answer states no length, while the length of the kept bytes' version is known: any end of its body would
        /// be taken for the end of the file.
        case unmeasured
    }

    /// The defect of an answer that contains the whole, while bytes are kept; nil if it may be the file.
    public static func reason(for head: ResponseHead, plan: RequestPlan) -> Reason? {
        let kind = MediaKind(head.mediaType)
        let known = MediaKind(plan.kept.mediaType)
        if kind == .page, known != .page { return .page }
        guard [200, 203, 206].contains(head.status) else { return .status(head.status) }
        let length = head.status == 206 ? head.wholeLength : head.contentLength
        if length == 0 { return .empty }
        if let known, kind != known, kind == .data || kind == .text { return .otherKind(head.mediaType ?? "") }
        guard let length else { return plan.kept.totalLength == nil ? nil : .unmeasured }
        return length < plan.offset ? .shorter(kept: plan.offset, now: length) : nil
    }

    /// The verdict on an answer that would replace the kept bytes; nil if it may.
    static func judge(_ head: ResponseHead, plan: RequestPlan, url: HTTPURL) -> HeadVerdict? {
        guard let reason = reason(for: head, plan: plan) else { return nil }
        let signature = signature(of: head, source: plan.source)
        let known = plan.kept.doubt
        let count = known?.signature == signature ? max(1, known?.count ?? 0).addingSaturated(1) : 1
        if count >= sightings, mayBeVersion(head, reason) { return nil }
        let host = url.hostKey
        return .suspect(
            AnswerDoubt(signature: signature, count: count),
            TransferError(
                .unexpectedAnswer, "\(host) answered with \(description(of: reason)) instead of the file",
                httpStatus: head.status, host: host))
    }

    /// The stored form of an answer.
    public static func sight(of head: ResponseHead, source: HTTPURL?) -> AnswerDoubt {
        AnswerDoubt(signature: signature(of: head, source: source), count: 1)
    }

    /// True if repetition shows that the answer is another version of the file. Data and text count only with a
    /// validator, which errors rarely have.
    private static func mayBeVersion(_ head: ResponseHead, _ reason: Reason) -> Bool {
        switch reason {
        case .page, .status, .empty: false
        case .otherKind: head.etag.map(EntityTag.isStrong) ?? (head.lastModified != nil)
        case .shorter, .unmeasured: true
        }
    }

    /// The properties by which answers are the same. They include the source, since mirrors do not confirm each other's
    /// answers.
    private static func signature(of head: ResponseHead, source: HTTPURL?) -> String {
        let parts = [
            source?.hostKey, source?.target,
            "\(head.status)", head.mediaType, head.etag, head.lastModified, head.contentLength.map { "\($0)" },
            head.contentEncoding,
        ]
        return parts.map { String(($0 ?? "-").prefix(longestPart)) }.joined(separator: " ")
    }

    /// The number of characters of a header field that are compared.
    private static let longestPart = 200

    private static func description(of reason: Reason) -> String {
        switch reason {
        case .page: "a web page"
        case .status(let status): "\(status)"
        case .empty: "nothing"
        case .otherKind(let type): String(type.prefix(100))
        case .shorter(let kept, let now): "\(now) bytes, fewer than the \(kept) kept ones,"
        case .unmeasured: "a body of unknown length"
        }
    }
}
