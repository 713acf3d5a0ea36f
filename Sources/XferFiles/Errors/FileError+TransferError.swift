import Glibc
public import XferModel

extension FileError {
    /// The error of a task that fails for this.
    public var transferError: TransferError { TransferError(reason, description, isRetriable: isRetriable) }

    private var reason: FailureReason {
        switch self {
        case .notAbsolute, .containsNUL, .outsideRoots, .forbidden, .notADirectory, .notWritable, .invalidName,
            .notPermitted, .undecidable:
            .destinationDenied
        case .missing: .destinationUnavailable
        case .isADirectory, .nameTaken, .noFreeName: .destinationExists
        case .lengthMismatch: .lengthMismatch
        case .sourceChanged: .sourceFileChanged
        case .noRoom: .insufficientSpace
        case .poisoned, .damagedBlob: .diskError
        case .destinationChanged: .destinationChanged
        case .notAPartialFile, .publishLost, .partChanged, .notMoved, .unsupported: .fileMoveFailed
        case .closed, .alreadyLocked, .insecureStateDirectory, .digestUnavailable, .cancelled: .internalError
        case .system(_, _, let code): Self.reason(code)
        }
    }

    /// Lack of memory is temporary, and spoiled bytes can be fetched again; for all other errors the reason's rule
    /// holds.
    private var isRetriable: Bool? {
        if case .partChanged = self { return true }
        guard case .system(_, _, let code) = self else { return nil }
        return code == ENOMEM ? true : nil
    }

    private static func reason(_ code: Int32) -> FailureReason {
        switch code {
        case ENOSPC, EDQUOT: .insufficientSpace
        case EACCES, EPERM, EROFS, ELOOP, ENAMETOOLONG, ENOTDIR, EXDEV, EFBIG, ETXTBSY: .destinationDenied
        case ENOENT, ESTALE, ENODEV, ENOTCONN, EHOSTDOWN, ETIMEDOUT: .destinationUnavailable
        case EEXIST, EISDIR, ENOTEMPTY: .destinationExists
        case EMFILE, ENFILE: .outOfDescriptors
        case ENOMEM, EBADF: .internalError
        default: .diskError
        }
    }
}
