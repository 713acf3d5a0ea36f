public import XferModel

/// Decides when to stop the requests that delete a cancelled upload's bytes from its server.
public enum RemoteUploadCleanupRules {
    /// The time for which the cleanup is retried. The server is expected to remove the upload later on its own.
    public static let patience = Duration.seconds(86_400)

    /// The delays between attempts.
    public static let backoff = RetryPolicy(base: .seconds(1), cap: .seconds(3600))

    public enum Decision: Hashable, Sendable {
        /// The upload no longer exists.
        case done
        /// The server refuses, or has not been reached for too long.
        case giveUp
        case tryAgain(at: Timestamp)
    }

    /// Decides after an attempt.
    ///
    /// - Parameters:
    ///   - status: of the final response; nil when there was none.
    ///   - tries: this one included.
    public static func decide(
        status: Int?, retryAfter: Int64? = nil, tries: Int, abandonedAt: Timestamp, at now: Timestamp,
        using random: inout some RandomNumberGenerator
    ) -> Decision {
        if let status {
            switch status {
            case 200...299, 404, 410: return .done
            // The upload is locked by another request (tus: 423), or the server asks to wait.
            case 408, 423, 425, 429: break
            case 400...499: return .giveUp
            default: break
            }
        }
        let next = now.advanced(by: backoff.delay(tries: tries, retryAfter: retryAfter, using: &random))
        return abandonedAt.duration(to: next) <= patience ? .tryAgain(at: next) : .giveUp
    }
}
