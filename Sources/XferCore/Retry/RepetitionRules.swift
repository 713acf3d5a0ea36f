public import XferModel

/// Which requests may be sent again after the server may have acted on them (RFC 9110 §9.2.2).
///
/// A failure before anything was sent is no matter of these rules: it can always be tried again.
public enum RepetitionRules {
    /// Whether doing what the task asks for twice is as good as once: its method is idempotent, the client says so, or an
    /// `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header) lets the server tell. An upload whose protocol asks
    /// the server for its offset first never does anything twice.
    public static func mayRepeat(_ specification: TaskSpecification) -> Bool {
        mayRepeatRequest(of: specification)
            || specification.kind == .upload && specification.upload.uploadProtocol != .plain
    }

    /// Of an upload the server may continue: whether its first request may be made again when the server has not said yet
    /// where it keeps what it got.
    public static func mayRepeatRequest(of specification: TaskSpecification) -> Bool {
        let request = specification.request
        return request.method.isIdempotent || specification.retriesNonIdempotent
            || request.headers.firstValue(named: idempotencyKey)?.isEmpty == false
            || specification.kind == .upload && specification.upload.uploadProtocol == .tus
    }

    /// Also after an answer by which the server says that it did not act: 408, 423, 425 and 429 (RFC 9110 §15.5.9,
    /// RFC 4918 §11.3, RFC 8470 §5.2, RFC 6585 §4).
    public static func mayRepeat(_ specification: TaskSpecification, after error: TransferError) -> Bool {
        saysNothingWasDone(error) || mayRepeat(specification)
    }

    /// As `mayRepeatRequest(of:)`, after an answer.
    public static func mayRepeatRequest(of specification: TaskSpecification, after error: TransferError) -> Bool {
        saysNothingWasDone(error) || mayRepeatRequest(of: specification)
    }

    private static func saysNothingWasDone(_ error: TransferError) -> Bool {
        error.httpStatus.map { [408, 423, 425, 429].contains($0) } ?? false
    }

    /// The error of a task that must not be repeated, where another task would be retried.
    ///
    /// - Parameter error: how the attempt failed; nil if the service stopped before it ended.
    public static func outcomeUnknown(after error: TransferError?, of request: TransferRequest) -> TransferError {
        let happened = error.map { "; \($0.message)" } ?? ", and the service stopped before the answer came"
        return TransferError(
            .outcomeUnknown,
            "the \(request.method.rawValue) may have reached \(request.url.hostKey)\(happened). It is not sent twice "
                + "without retry_non_idempotent or an Idempotency-Key header",
            isRetriable: false, httpStatus: error?.httpStatus, curlCode: error?.curlCode,
            host: error?.host ?? request.url.hostKey)
    }

    private static let idempotencyKey = "Idempotency-Key"
}
