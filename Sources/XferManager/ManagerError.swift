import XferFiles
public import XferModel
public import XferProtocol
import XferStore

/// The reason why the manager refused a call. Each case is one error on the wire.
public enum ManagerError: Error, Hashable, Sendable {
    /// A field of the request is invalid: `path` is the field, `expected` describes valid values.
    case invalidField(path: String, reason: String, expected: String)
    case notFound(TaskID)
    case cacheEntryNotFound(CacheEntryID)
    /// A task in `after` does not exist or belongs to another owner.
    case dependencyNotFound(TaskID, path: String)
    /// The task's state does not allow the call; `reason` explains it.
    case invalidState(TaskID, TaskState, reason: String)
    /// The task has no response: it has not arrived, never will, or its retention has ended.
    case noResult(TaskID, TaskState)
    case permissionDenied(path: String?, reason: String)
    /// `key_reused`: the client key names another request.
    case keyReused(existing: TaskID, path: String = "client_key")
    /// `key_reused`: an earlier task of the same call has the client key, with another request.
    case keyRepeated(path: String, earlier: String)
    /// A staged task cannot be published now, and stays staged.
    case notCommitted(TaskID, FailureReason, String)
    /// The task has no bytes that can be read; `reason` explains it.
    case noBytes(TaskID, TaskState, reason: String)
    /// `key_reused`: the client key names another batch.
    case batchKeyReused(existing: BatchID)
    case batchNotFound(BatchID, path: String = "id")
    case operationNotFound(OperationID)
    case groupNotFound(String)
    case limitExceeded(reason: String, limit: Int)
    case policyNotFound(String)
    /// `in_use`: an unfinished task refers to the policy.
    case policyInUse(String, by: TaskID)
    /// `read_only`: the policy is written in the configuration file.
    case policyIsConfigured(String)
    case profileNotFound(String)
    /// `read_only`: the profile is written in the configuration file.
    case profileIsConfigured(String)
    case tokenNotFound(String)
    /// `in_use`: a token of this name exists.
    case tokenExists(String)
    /// The operator's policies refuse the request.
    case rejectedByPolicy(path: String, reason: String)
    /// The database cannot be written; `reason` explains it.
    case storageUnavailable(reason: String)
    case shuttingDown
}

extension ManagerError: CustomStringConvertible {
    /// The sentence that callers get.
    public var description: String { failure.message }
}

extension ManagerError {
    /// The user would have more unfinished tasks than its entry of the configuration allows.
    static func tooManyTasks(of owner: Owner, limit: Int) -> ManagerError {
        .limitExceeded(
            reason: "unfinished tasks of this user; an operator can raise max_tasks in access.users."
                + "\(owner.rawValue), or in the entry of a group, in the configuration file", limit: limit)
    }

    /// The profile's row in the database cannot be read.
    ///
    /// - Parameter path: the field that names the profile.
    static func damagedProfile(_ name: String, path: String) -> ManagerError {
        .invalidField(
            path: path, reason: "the profile \"\(name)\" is damaged in the database",
            expected: "a profile that can be read; an operator can set this one again or remove it")
    }

    /// No file descriptor is left to open a file of the request.
    static var outOfDescriptors: ManagerError {
        .limitExceeded(
            reason: "file descriptors are in use; repeat the call when transfers have ended", limit: Descriptors.limit)
    }
}

extension ManagerError {
    /// The error as callers get it.
    public var failure: RPCFailure {
        switch self {
        case .invalidField(let path, let reason, let expected):
            RPCFailure(
                .invalidParams, "\(path): \(reason)",
                data: ErrorData(reason: "invalid_value", path: path, expected: expected))
        case .notFound(let id):
            .noSuchTask(id)
        case .cacheEntryNotFound(let id):
            RPCFailure(
                .notFound, "there is no entry \(id) in the cache", data: ErrorData(reason: "not_found", path: "id"))
        case .dependencyNotFound(let id, let path):
            RPCFailure(
                .notFound, "\(path): there is no task \(id)",
                data: ErrorData(reason: "not_found", path: path, taskID: id))
        case .invalidState(let id, let state, let reason):
            RPCFailure(
                .invalidState, "task \(id) is \(state.rawValue): \(reason)",
                data: ErrorData(reason: "invalid_state", taskID: id, state: state))
        case .noResult(let id, let state):
            RPCFailure(
                .invalidState, "task \(id) is \(state.rawValue) and has no stored response",
                data: ErrorData(reason: "no_result", taskID: id, state: state))
        case .permissionDenied(let path, let reason):
            RPCFailure(
                .permissionDenied, path.map { "\($0): \(reason)" } ?? reason,
                data: ErrorData(reason: "permission_denied", path: path))
        case .keyReused(let existing, let path):
            RPCFailure(
                .conflict, "\(path) belongs to task \(existing), which was added with another request",
                data: ErrorData(reason: "key_reused", path: path, taskID: existing))
        case .keyRepeated(let path, let earlier):
            RPCFailure(
                .conflict, "\(path) is also the key of \(earlier) in the same call, which has another request",
                data: ErrorData(reason: "key_reused", path: path))
        case .notCommitted(let id, let reason, let message):
            RPCFailure(
                .conflict, "task \(id) stays staged: \(message)",
                data: ErrorData(reason: reason.rawValue, taskID: id, state: .staged))
        case .noBytes(let id, let state, let reason):
            RPCFailure(
                .invalidState, "task \(id) is \(state.rawValue): \(reason)",
                data: ErrorData(reason: "no_bytes", taskID: id, state: state))
        case .batchKeyReused(let existing):
            RPCFailure(
                .conflict, "client_key belongs to batch \(existing), which was added with other parameters",
                data: ErrorData(reason: "key_reused", path: "client_key"))
        case .batchNotFound(let id, let path):
            RPCFailure(
                .notFound, "\(path == "id" ? "" : path + ": ")there is no batch \(id)",
                data: ErrorData(reason: "not_found", path: path))
        case .operationNotFound(let id):
            RPCFailure(.notFound, "there is no operation \(id)", data: ErrorData(reason: "not_found", path: "id"))
        case .groupNotFound(let name):
            RPCFailure(
                .notFound, "there is no group \"\(name)\"", data: ErrorData(reason: "not_found", path: "name"))
        case .limitExceeded(let reason, let limit):
            RPCFailure(
                .limitExceeded, "more than \(limit) \(reason)",
                data: ErrorData(reason: "limit_exceeded", limit: Int64(clamping: limit)))
        case .policyNotFound(let name):
            RPCFailure(
                .notFound, "there is no trust policy \"\(name)\"", data: ErrorData(reason: "not_found", path: "name"))
        case .policyInUse(let name, let task):
            RPCFailure(
                .conflict, "trust policy \"\(name)\" is used by unfinished tasks, such as task \(task)",
                data: ErrorData(reason: "in_use", path: "name", taskID: task))
        case .policyIsConfigured(let name):
            RPCFailure(
                .conflict, "trust policy \"\(name)\" comes from the configuration file: change it there",
                data: ErrorData(reason: "read_only", path: "name"))
        case .profileNotFound(let name):
            RPCFailure(
                .notFound, "there is no profile \"\(name)\"", data: ErrorData(reason: "not_found", path: "name"))
        case .profileIsConfigured(let name):
            RPCFailure(
                .conflict, "profile \"\(name)\" comes from the configuration file: change it there",
                data: ErrorData(reason: "read_only", path: "name"))
        case .tokenNotFound(let name):
            RPCFailure(
                .notFound, "there is no token \"\(name)\"", data: ErrorData(reason: "not_found", path: "name"))
        case .tokenExists(let name):
            RPCFailure(
                .conflict, "there is a token \"\(name)\" already; revoke it, or choose another name",
                data: ErrorData(reason: "in_use", path: "name"))
        case .rejectedByPolicy(let path, let reason):
            RPCFailure(
                .rejectedByPolicy, "\(path): \(reason)", data: ErrorData(reason: "rejected_by_policy", path: path))
        case .storageUnavailable(let reason):
            RPCFailure(
                .storageUnavailable, "the database cannot be written: \(reason). Nothing was changed",
                data: ErrorData(reason: "storage_unavailable"))
        case .shuttingDown:
            RPCFailure(
                .shuttingDown,
                "the daemon is stopping and accepts no new work", data: ErrorData(reason: "shutting_down"))
        }
    }
}

extension ManagerError {
    /// Describes why a staged task could not be published.
    init(notCommitted id: TaskID, _ error: any Error) {
        switch error {
        case let error as ManagerError: self = error
        case let error as TransferError: self = .notCommitted(id, error.reason, error.message)
        case let error as FileError:
            self = .notCommitted(id, error.transferError.reason, error.description)
        case StoreError.degraded(let reason): self = .storageUnavailable(reason: reason)
        case let error as StoreError: self = .storageUnavailable(reason: error.description)
        default: self = .notCommitted(id, .internalError, "\(error)")
        }
    }
}
