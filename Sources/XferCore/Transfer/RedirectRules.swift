public import XferModel

/// Decides where a redirect may lead and which request is sent there (RFC 9110 §15.4). Counts the hops of one attempt.
public struct RedirectRules: Hashable, Sendable {
    public let policy: RedirectPolicy
    public let allowsDowngrade: Bool
    /// The highest number of redirects in a row.
    public let limit: Int
    /// The statuses of responses that are results.
    private let acceptedStatus: StatusSet
    private var count = 0

    public init(_ request: TransferRequest) {
        policy = request.redirect
        allowsDowngrade = request.allowsDowngrade
        limit = request.maxRedirects
        acceptedStatus = request.acceptedStatus
    }

    /// True if the response of a redirect is the result, wherever it leads: redirects are not followed, and the request
    /// accepts the status.
    public func delivers(status: Int) -> Bool { policy == .deny && acceptedStatus.contains(status) }

    /// True if an answer from `last` may be about another resource than the requested URL `first`: the next answer of
    /// `first` may lead somewhere else. An upgrade to https with the same host and path leads to the same resource.
    public static func leadsElsewhere(from first: HTTPURL, to last: HTTPURL) -> Bool {
        first.hostKey != last.hostKey || first.target != last.target
    }

    /// The method of the next request. If it is still `method`, the content is sent again, byte for byte; else no
    /// content is sent.
    ///
    /// 303 refers to another URL for the answer; 301 and 302 turn POST into GET, as all common clients do; 307 and 308
    /// repeat the request.
    public static func method(after status: Int, to method: HTTPMethod) -> HTTPMethod {
        switch status {
        case 303 where method != .head: .get
        case 301 where method == .post, 302 where method == .post: .get
        default: method
        }
    }

    /// Throws the reason why the hop is refused; the failure is permanent.
    public mutating func onRedirect(status: Int, from: HTTPURL, to: HTTPURL) throws(TransferError) {
        count += 1
        func refusal(_ reason: FailureReason, _ message: String) -> TransferError {
            TransferError(reason, message, httpStatus: status, host: from.hostKey)
        }
        if policy == .deny {
            throw refusal(
                .redirectDenied, "\(from.hostKey) redirects (\(status)) to \(to), and the task's redirect is deny")
        }
        if policy == .sameOrigin, from.origin != to.origin {
            throw refusal(
                .redirectDenied,
                "\(from.hostKey) redirects to another origin, \(to.origin), and the task's redirect is same_origin")
        }
        if from.scheme == .https, to.scheme == .http, !allowsDowngrade {
            throw refusal(
                .insecureRedirect, "\(from.hostKey) redirects from https to \(to), and allow_downgrade is not set")
        }
        if count > limit {
            throw refusal(.tooManyRedirects, "more than \(limit) redirects; the last led to \(to)")
        }
    }
}
