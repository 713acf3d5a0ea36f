public import XferModel

/// Tells a signed URL that expired half way from a server that refuses.
public enum SourceExpiry {
    /// Whether the server refuses to continue a download that began without credentials: then the URL itself carried
    /// the permission, and it has expired. With credentials, a 401 or 403 is about them, not about the URL.
    public static func isExpired(_ task: TransferTask, after error: TransferError) -> Bool {
        let (specification, request) = (task.specification, task.specification.request)
        guard let status = error.httpStatus, status == 401 || status == 403 else { return false }
        return specification.kind == .download && task.received > 0 && request.credential == nil
            && !request.usesProfileSecrets && request.headers.firstValue(named: "Authorization") == nil
    }
}
