import XferFiles
public import XferModel

/// Why the manager refused a call. Each case is one error on the wire.
public enum ManagerError: Error, Hashable, Sendable {
    /// A field of the request is invalid: `path` names it, `expected` says what is valid.
    case invalidField(path: String, reason: String, expected: String)
    case notFound(TaskID)
    case cacheEntryNotFound(CacheEntryID)
    /// A task named in `after` does not exist or belongs to another owner.
    case dependencyNotFound(TaskID, path: String)
    /// The task's state does not allow the call; `reason` says what and why.
    case invalidState(TaskID, TaskState, reason: String)
    /// The task has no response: none yet, none ever, or its retention is over.
    case noResult(TaskID, TaskState)
    case permissionDenied(path: String?, reason: String)
    /// `key_reused`: the client key names another request.
    case keyReused(existing: TaskID)
    /// A staged task cannot be published now, and stays staged.
    case notCommitted(TaskID, FailureReason, String)
    /// The task has no bytes that can be read; `reason` says why.
    case noBytes(TaskID, TaskState, reason: String)
    /// `key_reused`: the client key names another batch.
    case batchKeyReused(existing: BatchID)
    case batchNotFound(BatchID)
    case groupNotFound(String)
    case limitExceeded(reason: String, limit: Int)
    case policyNotFound(String)
    /// `in_use`: an unfinished task names the policy.
    case policyInUse(String, by: TaskID)
    /// `read_only`: the policy is written in the configuration file.
    case policyIsConfigured(String)
    case profileNotFound(String)
    /// `read_only`: the profile is written in the configuration file.
    case profileIsConfigured(String)
    /// The operator's policies refuse the request.
    case rejectedByPolicy(path: String, reason: String)
    /// The database cannot be written; `reason` says why.
    case storageUnavailable(reason: String)
    case shuttingDown
}

extension ManagerError {
    /// No file descriptor is left to open what the request names.
    static var outOfDescriptors: ManagerError {
        .limitExceeded(
            reason: "file descriptors are in use; try again when transfers have ended", limit: Descriptors.limit)
    }
}
