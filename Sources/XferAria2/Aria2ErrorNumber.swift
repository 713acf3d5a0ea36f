public import XferModel

/// aria2's numbers for the ends of downloads (aria2c(1), EXIT STATUS), in `errorCode` and as exit status.
public enum Aria2ErrorNumber {
    public static let success = 0
    public static let unknown = 1
    /// The exit code of `aria2c` when downloads were unfinished.
    public static let unfinished = 7
    public static let badOption = 28
    public static let removed = 31

    /// The number for a failure. `status` is the response's, where there was one.
    public static func number(of reason: FailureReason?, status: Int? = nil) -> Int {
        switch reason {
        case .connectTimeout, .idleTimeout, .totalTimeout, .deadlineExceeded: 2
        case .onlyIfCachedMiss: 3
        case .tooSlow: 5
        case .connectFailed, .networkUnreachable, .connectionLost, .shortBody: 6
        case .rangeMismatch, .unexpectedAnswer: 8
        case .insufficientSpace: 9
        case .destinationExists: 13
        case .destinationChanged, .fileMoveFailed: 14
        case .destinationDenied, .nameRefused: 16
        case .diskError, .fileTooLarge: 17
        case .destinationUnavailable: 18
        case .dnsFailure: 19
        case .httpStatus, .blockedURL: number(ofStatus: status)
        case .protocolError, .invalidFraming, .lengthMismatch, .expansionLimit, .tooLarge, .redirectDenied,
            .insecureRedirect,
            .unacceptableType:
            22
        case .tooManyRedirects: 23
        case .authFailed, .credentialMissing: 24
        case .checksumMismatch: 32
        case .trustRejected, .pinMismatch, .revocationUnknown, .policyMissing, .rejectedByPolicy, .parseFailed,
            .uploadRejected, .sourceFileChanged, .bodyNotRewindable, .outcomeUnknown, .outOfDescriptors,
            .postProcessFailed, .dependencyFailed, .internalError, nil:
            unknown
        }
    }

    private static func number(ofStatus status: Int?) -> Int {
        switch status {
        case 404, 410: 3
        case 401, 407: 24
        case 500, 502, 503, 504: 29
        case nil: unknown
        default: 22
        }
    }
}
