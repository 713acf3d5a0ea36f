/// The codes of error answers: JSON-RPC 2.0's own and xferd's (−32001 …).
public enum ErrorCode: Int64, Sendable, CaseIterable {
    case parseError = -32700
    case invalidRequest = -32600
    case methodNotFound = -32601
    case invalidParams = -32602
    case internalError = -32603
    case notFound = -32001
    case invalidState = -32002
    case permissionDenied = -32003
    case rejectedByPolicy = -32004
    case conflict = -32005
    case limitExceeded = -32006
    case storageUnavailable = -32007
    case shuttingDown = -32008

    /// The code's name in documents.
    public var name: String {
        switch self {
        case .parseError: "parse_error"
        case .invalidRequest: "invalid_request"
        case .methodNotFound: "method_not_found"
        case .invalidParams: "invalid_params"
        case .internalError: "internal_error"
        case .notFound: "not_found"
        case .invalidState: "invalid_state"
        case .permissionDenied: "permission_denied"
        case .rejectedByPolicy: "rejected_by_policy"
        case .conflict: "conflict"
        case .limitExceeded: "limit_exceeded"
        case .storageUnavailable: "storage_unavailable"
        case .shuttingDown: "shutting_down"
        }
    }

    /// The meaning of the code, one sentence.
    public var summary: String {
        switch self {
        case .parseError: "The message is not JSON, or not in the strict form that this service accepts."
        case .invalidRequest: "The message is JSON but not a JSON-RPC 2.0 request, or exceeds a limit."
        case .methodNotFound: "There is no such method."
        case .invalidParams:
            "A parameter is unknown, missing, of the wrong type, or out of range; data.path is its name."
        case .internalError: "An error inside the service."
        case .notFound: "The object does not exist, or belongs to another user."
        case .invalidState: "The task's state does not allow this."
        case .permissionDenied: "The caller may not do this."
        case .rejectedByPolicy: "The service's configuration refuses this."
        case .conflict: "The request contradicts the present state; data.reason is the cause (key_reused, …)."
        case .limitExceeded: "A limit is reached; data.limit is its value where it is a number."
        case .storageUnavailable: "The database cannot be written at present; reading works."
        case .shuttingDown: "The service is about to stop and accepts no new work."
        }
    }

    /// The codes that every method can answer with.
    public static let everywhere: [ErrorCode] = [.invalidParams, .internalError, .permissionDenied]
}
