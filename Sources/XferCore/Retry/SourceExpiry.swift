public import XferModel

/// Tells a signed URL that expired half way from a server that refuses.
public enum SourceExpiry {
    /// Whether a download that was allowed to begin may not go on, although nobody logged in: its URL was what allowed
    /// it. With credentials, a 401 or 403 speaks of them, not of the URL.
    public static func isExpired(_ task: TransferTask, after error: TransferError) -> Bool {
        let (specification, request) = (task.specification, task.specification.request)
        guard let status = error.httpStatus, status == 401 || status == 403 else { return false }
        return specification.kind == .download && task.received > 0 && request.credential == nil
            && !request.usesProfileSecrets && request.headers.firstValue(named: "Authorization") == nil
    }
}
