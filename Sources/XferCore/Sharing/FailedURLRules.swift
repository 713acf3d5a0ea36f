public import XferModel

/// Decides which failures are remembered, and for how long, so that no task repeats a request in vain.
///
/// SDWebImage's `failedURLs` with its exclusions: failures that concern the URL are listed; failures that concern the
/// network, the caller or this machine never are.
public enum FailedURLRules {
    /// The highest number of entries; beyond it the oldest failure is removed.
    public static let largestCount: Int64 = 10_000

    /// True if a final failure puts the task's first URL on the list: 4xx except 401, 403, 408, 416, 423, 425 and 429,
    /// and redirects to no valid URL.
    ///
    /// An answer of another server after a redirect is not about the first URL, and neither is an answer that may come
    /// from a portal.
    /// - Parameter isAuthentic: true if the answers come from the requested servers; see `NetworkProof`.
    public static func lists(
        _ error: TransferError, of specification: TaskSpecification, isAuthentic: Bool
    ) -> Bool {
        // A proxy's refusal says nothing about the URL.
        if error.proxy != nil { return false }
        guard isAuthentic, error.host.map({ $0 == specification.request.url.hostKey }) ?? true else { return false }
        switch error.reason {
        case .httpStatus:
            guard let status = error.httpStatus, (400...499).contains(status) else { return false }
            // 416 is about a range: the server may well have another part.
            return ![401, 403, 408, 416, 423, 425, 429].contains(status)
        case .tooManyRedirects:
            return true
        case .protocolError:
            // A redirect to something that is no http or https URL. Other invalid answers may be better another time.
            guard let status = error.httpStatus, (300...399).contains(status) else { return false }
            return !error.isRetriable
        default:
            return false
        }
    }

    /// True if a task with this outcome proves that its URL can be fetched. A skipped task made no request.
    public static func isRefuted(by outcome: TaskOutcome) -> Bool { !outcome.skipped }

    /// Entries that failed within these times count; nil when the list is off.
    ///
    /// The window extends both ways from now: a clock that was set back must not make an entry last longer.
    /// - Parameter timeToLive: seconds, 0 turns the list off.
    public static func window(timeToLive: Int64, at now: Timestamp) -> ClosedRange<Timestamp>? {
        guard timeToLive > 0 else { return nil }
        let reach = Duration.seconds(timeToLive)
        return now.advanced(by: .zero - reach)...now.advanced(by: reach)
    }

    /// The failure of a task whose URL is listed.
    public static func refusal(of request: TransferRequest, because entry: FailedURL, until end: Timestamp)
        -> TransferError
    {
        TransferError(
            .blockedURL,
            "the URL failed at \(entry.failedAt) (\(entry.error.message)) and is not requested again before \(end) "
                + "without retry_failed",
            httpStatus: entry.error.httpStatus, host: request.url.hostKey)
    }
}
