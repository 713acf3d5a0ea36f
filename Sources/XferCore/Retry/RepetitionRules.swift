public import XferModel

/// Decides which requests may be sent again after the server may have acted on them (RFC 9110 §9.2.2).
///
/// A request that failed before it was sent can always be repeated, without these rules.
public enum RepetitionRules {
    /// True if the task's request may be made twice: its method is idempotent, the client allows it, or an
    /// `Idempotency-Key` (draft-ietf-httpapi-idempotency-key-header) lets the server detect repetitions. An upload
    /// whose protocol first requests the server's offset never does anything twice.
    public static func mayRepeat(_ specification: TaskSpecification) -> Bool {
        mayRepeatRequest(of: specification)
            || specification.kind == .upload && specification.upload.uploadProtocol != .plain
    }

    /// True if the task's request itself may be made twice. For a resumable upload that is the first request, before
    /// the server has sent the URL of its upload resource.
    public static func mayRepeatRequest(of specification: TaskSpecification) -> Bool {
        let request = specification.request
        return request.method.isIdempotent || specification.retriesNonIdempotent
            || request.headers.firstValue(named: idempotencyKey)?.isEmpty == false
            || specification.kind == .upload && specification.upload.uploadProtocol == .tus
    }

    /// True if the request may be repeated after the error; also after an answer by which the server states that it did
    /// not act: 408, 423, 425 and 429 (RFC 9110 §15.5.9, RFC 4918 §11.3, RFC 8470 §5.2, RFC 6585 §4).
    public static func mayRepeat(_ specification: TaskSpecification, after error: TransferError) -> Bool {
        saysNothingWasDone(error) || mayRepeat(specification)
    }

    /// The same as `mayRepeatRequest(of:)`, after an answer.
    public static func mayRepeatRequest(of specification: TaskSpecification, after error: TransferError) -> Bool {
        saysNothingWasDone(error) || mayRepeatRequest(of: specification)
    }

    private static func saysNothingWasDone(_ error: TransferError) -> Bool {
        error.httpStatus.map { [408, 423, 425, 429].contains($0) } ?? false
    }

    /// The error of a task that must not be repeated, in a case in which other tasks are retried.
    ///
    /// - Parameter error: the failure of the attempt; nil if the service stopped before it ended.
    public static func outcomeUnknown(after error: TransferError?, of request: TransferRequest) -> TransferError {
        let happened = error.map { "; \($0.message)" } ?? ", and the service stopped before the answer came"
        return TransferError(
            .outcomeUnknown,
            "the \(request.method.rawValue) may have reached \(request.url.hostKey)\(happened). It is not sent twice "
                + "without retry_non_idempotent or an Idempotency-Key header",
            isRetriable: false, httpStatus: error?.httpStatus, curlCode: error?.curlCode,
            host: error?.host ?? request.url.hostKey)
    }

    /// The error of an unfinished task of a restored database: the daemon may have made its request after the backup.
    public static func outcomeUnknown(afterRestoreOf request: TransferRequest) -> TransferError {
        TransferError(
            .outcomeUnknown,
            "the database was restored from a backup, and the \(request.method.rawValue) may have reached "
                + "\(request.url.hostKey) since. It is not sent twice without retry_non_idempotent or an "
                + "Idempotency-Key header",
            isRetriable: false, host: request.url.hostKey)
    }

    private static let idempotencyKey = "Idempotency-Key"
}
