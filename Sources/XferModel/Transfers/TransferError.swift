/// The reason why a transfer failed. All failures are named here: `reason` is a closed list.
public struct TransferError: Error, Hashable, Sendable, Codable {
    public var reason: FailureReason
    /// A sentence that helps a person to act; never contains secrets.
    public var message: String
    /// True if another attempt may succeed.
    public var isRetriable: Bool
    public var httpStatus: Int?
    /// libcurl's code, libcurl-errors(3).
    public var curlCode: Int32?
    public var host: String?
    /// The server's `Retry-After`, in seconds, 0 … 3600.
    public var retryAfter: Int64?
    /// True if the text of the answer states that the URL, or its permission, has expired.
    public var saysExpired: Bool?
    /// The exact cause, if the reason has several causes; nil if it is unknown.
    public var cause: FailureCause?
    /// Causes that would remain if `cause` were remedied; nil if none are known.
    public var furtherCauses: [FailureCause]?
    /// The key of the certificate that the server showed, as `sha256/BASE64`; nil unless the server was not trusted.
    public var shownPin: String?
    /// The name of the trust policy that refused the server; nil for other failures.
    public var policy: String?
    /// The kinds of login that the server or the proxy accepts, with its own names; nil if it did not say.
    public var acceptedLogins: [String]?
    /// The URL of the proxy that failed, refused, or may have given the answer; nil if no proxy was involved in the
    /// failure.
    public var proxy: String?
    /// True if the answer was received over plain HTTP through a proxy, which could have made it in the server's place.
    public var isRelayed: Bool?
    /// True if a redirect led to the URL that refused; see `RedirectRules.leadsElsewhere`.
    public var isRedirected: Bool?
    /// The number of doubtful refusals since the last progress, with this one; see `Refusal.counted`. Not shown.
    public var doubts: Int?
    /// The missing space of an `insufficient_space`, if it is known.
    public var space: MissingSpace?

    /// Creates an error. By default `isRetriable` is the reason's own.
    public init(
        _ reason: FailureReason, _ message: String, isRetriable: Bool? = nil, httpStatus: Int? = nil,
        curlCode: Int32? = nil, host: String? = nil, retryAfter: Int64? = nil, cause: FailureCause? = nil,
        proxy: String? = nil
    ) {
        self.reason = reason
        self.message = message
        self.isRetriable = isRetriable ?? reason.isTransient
        self.httpStatus = httpStatus
        self.curlCode = curlCode
        self.host = host
        self.retryAfter = retryAfter
        self.cause = cause
        self.proxy = proxy
    }
}

extension TransferError: CustomStringConvertible {
    /// The text, such as `connection_lost: the server closed the connection`.
    public var description: String { "\(reason.rawValue): \(message)" }
}

/// The closed list of reasons a task can fail for.
public enum FailureReason: String, Sendable, Codable, CaseIterable {
    // Connecting to the server.
    case dnsFailure = "dns_failure"
    case connectFailed = "connect_failed"
    case networkUnreachable = "network_unreachable"
    case connectTimeout = "connect_timeout"
    case connectionLost = "connection_lost"
    case idleTimeout = "idle_timeout"
    case totalTimeout = "total_timeout"
    /// The body arrived more slowly than `min_recv_rate`.
    case tooSlow = "too_slow"

    // Trusting the server.
    case trustRejected = "trust_rejected"
    case pinMismatch = "pin_mismatch"
    /// The policy requires a stapled OCSP response by which the certificate is not revoked, and there is none.
    case revocationUnknown = "revocation_unknown"
    /// The task's trust policy no longer exists.
    case policyMissing = "policy_missing"

    // The server's answer.
    case httpStatus = "http_status"
    case authFailed = "auth_failed"
    case protocolError = "protocol_error"
    /// The head contradicts itself about where the content ends, or applies a transfer coding that was not requested.
    case invalidFraming = "invalid_framing"
    case shortBody = "short_body"
    case lengthMismatch = "length_mismatch"
    /// Decoding a content coding produces more than the operator allows (`results.max_ratio`).
    case expansionLimit = "expansion_limit"
    case rangeMismatch = "range_mismatch"
    /// The download is larger than the task's `max_size`.
    case tooLarge = "too_large"
    case checksumMismatch = "checksum_mismatch"
    case tooManyRedirects = "too_many_redirects"
    case redirectDenied = "redirect_denied"
    case insecureRedirect = "insecure_redirect"
    case rejectedByPolicy = "rejected_by_policy"
    /// The response's media type is none of `accept_types`.
    case unacceptableType = "unacceptable_type"
    /// The response for the rest of a file does not look like the file; see `SuspectRules`.
    case unexpectedAnswer = "unexpected_answer"
    /// None of the parsers in `parse` accepts the body.
    case parseFailed = "parse_failed"
    /// The server's answers about an upload are contradictory, or it refuses to continue.
    case uploadRejected = "upload_rejected"

    // The sent content.
    /// The source has changed since the task was added.
    case sourceFileChanged = "source_file_changed"
    /// The content has to be sent again and cannot be read from its beginning.
    case bodyNotRewindable = "body_not_rewindable"
    /// The request may have reached the server, and repeating it may be unwanted (RFC 9110 §9.2.2).
    case outcomeUnknown = "outcome_unknown"
    /// A credential's file, variable or profile is missing or cannot be read.
    case credentialMissing = "credential_missing"

    // Storing the bytes.
    case destinationExists = "destination_exists"
    case destinationDenied = "destination_denied"
    case destinationUnavailable = "destination_unavailable"
    /// While the file was being published, its directory's path changed its target, or the file was removed.
    case destinationChanged = "destination_changed"
    /// The file system of the destination does not allow the name.
    case nameRefused = "name_refused"
    /// The file is larger than the file system, or the process, allows.
    case fileTooLarge = "file_too_large"
    case insufficientSpace = "insufficient_space"
    case diskError = "disk_error"
    case fileMoveFailed = "file_move_failed"
    /// The process, or the system, has no file descriptor left.
    case outOfDescriptors = "out_of_descriptors"
    /// The operator's post-process command failed.
    case postProcessFailed = "post_process_failed"

    // Conditions of the task.
    /// The task's `deadline` passed before its end.
    case deadlineExceeded = "deadline_exceeded"
    /// A task that had to complete first ended otherwise.
    case dependencyFailed = "dependency_failed"

    // This service.
    /// The URL failed permanently a while ago, and no client requested a retry: see `FailedURL`.
    case blockedURL = "blocked_url"
    /// The task may only use cached responses (`only_if_cached`), and there is none.
    case onlyIfCachedMiss = "only_if_cached_miss"
    case internalError = "internal_error"

    /// True if another attempt may succeed after a failure for this reason (spec: Retry).
    public var isTransient: Bool {
        switch self {
        case .dnsFailure, .connectFailed, .networkUnreachable, .connectTimeout, .connectionLost, .idleTimeout,
            .totalTimeout, .tooSlow, .shortBody, .protocolError, .rangeMismatch, .unexpectedAnswer,
            .insufficientSpace,
            .destinationUnavailable,
            .outOfDescriptors:
            true
        case .trustRejected, .pinMismatch, .revocationUnknown, .policyMissing, .httpStatus, .authFailed,
            .invalidFraming,
            .lengthMismatch, .expansionLimit, .tooLarge, .checksumMismatch, .tooManyRedirects, .redirectDenied,
            .insecureRedirect,
            .rejectedByPolicy, .unacceptableType, .parseFailed,
            .uploadRejected, .sourceFileChanged, .bodyNotRewindable, .outcomeUnknown, .credentialMissing,
            .destinationExists, .destinationChanged, .deadlineExceeded, .dependencyFailed, .destinationDenied,
            .nameRefused, .fileTooLarge, .diskError, .fileMoveFailed,
            .postProcessFailed, .blockedURL, .onlyIfCachedMiss, .internalError:
            false
        }
    }
}

/// The space that a failed run lacked, with which the service finds out without a request that there is room again.
public struct MissingSpace: Hashable, Sendable, Codable {
    /// A directory on the file system that lacks it; nil if the failure did not say which one.
    public var directory: String?
    /// The bytes that the next run writes there, without the reserve.
    public var needed: Int64
    /// True if the bytes may use the reserve: those of a body without a length, which is not known to leave it free.
    public var usesReserve = false
    /// The number of runs in a row that lacked space without progress in between.
    public var failures = 0
    /// The number of checks since the last run.
    public var checks = 0

    public init(in directory: String? = nil, needed: Int64 = 0) {
        self.directory = directory
        self.needed = needed
    }
}
