public import XferModel

/// The reason why a task, or its last attempt, failed.
public struct FailureRecord: WireRecord, Hashable {
    public var reason = OpenEnum(FailureReason.internalError)
    public var message = ""
    public var isRetriable = false
    public var httpStatus: Int?
    public var curlCode: Int32?
    public var host: String?
    public var attempts: Int?
    public var cause: OpenEnum<FailureCause>?
    public var furtherCauses: [OpenEnum<FailureCause>]?
    public var shownPin: String?
    public var policy: String?
    public var acceptedLogins: [String]?
    public var proxy: String?
    public var space: MissingSpaceRecord?

    public init() {}

    /// Creates the record. `attempts` is the task's count of attempts, if it is known.
    public init(_ error: TransferError, attempts: Int? = nil) {
        reason = OpenEnum(error.reason)
        message = error.message
        isRetriable = error.isRetriable
        httpStatus = error.httpStatus
        curlCode = error.curlCode
        host = error.host
        cause = error.cause.map { OpenEnum($0) }
        furtherCauses = error.furtherCauses.map { $0.map { OpenEnum($0) } }
        shownPin = error.shownPin
        policy = error.policy
        acceptedLogins = error.acceptedLogins
        proxy = error.proxy
        space = error.space.flatMap { MissingSpaceRecord($0) }
        self.attempts = attempts
    }

    public static let summary = "Reason why a task, or its last attempt, failed."
    public static let wireFields: WireFields<Self> = [
        .required("reason", \.reason, "Reason of the failure, from a closed list."),
        .required("message", \.message, "A sentence for people that helps to fix the problem; without secrets."),
        .required("is_retriable", \.isRetriable, "True if another attempt may succeed."),
        .optional("http_status", \.httpStatus, "Status of the receiver's answer."),
        .optional("curl_code", \.curlCode, "libcurl's code, see libcurl-errors(3)."),
        .optional("host", \.host, "The host with which the request was exchanged."),
        .optional("attempts", \.attempts, "Attempts so far that count against max_retries."),
        .optional(
            "cause", \.cause, "Exact cause, if the reason has several causes. One of a closed list."),
        .optional(
            "further_causes", \.furtherCauses, "Further known causes, which remain when the cause is fixed."),
        .optional(
            "shown_pin", \.shownPin,
            "Key of the certificate that an untrusted server showed, as sha256/BASE64, which a policy can pin."),
        .optional("policy", \.policy, "Name of the trust policy that refused the server."),
        .optional(
            "accepted_logins", \.acceptedLogins,
            "Kinds of login that the server or the proxy accepts, with its own names, such as Basic."),
        .optional("proxy", \.proxy, "The proxy that failed, refused, or may have sent the answer."),
        .optional("space", \.space, "For insufficient_space: the space that is missing, if known."),
    ]
}

/// The space that a transfer lacks.
public struct MissingSpaceRecord: WireRecord, Hashable {
    public var directory = ""
    public var needed: Int64 = 0
    public var usesReserve = false

    public init() {}

    /// Returns nil if the file system is not known.
    init?(_ space: MissingSpace) {
        guard let directory = space.directory else { return nil }
        (self.directory, needed, usesReserve) = (directory, space.needed, space.usesReserve)
    }

    public static let summary = "Space that a transfer lacks."
    public static let wireFields: WireFields<Self> = [
        .required("directory", \.directory, "A directory on the file system that lacks the space."),
        .required("needed", \.needed, "Bytes still to be written there, in addition to download.reserve."),
        .required(
            "uses_reserve", \.usesReserve,
            "True if the bytes may use download.reserve because the response's length is unknown."),
    ]
}
