import Glibc
public import XferModel

/// An open file descriptor that is closed with its last reference, so that no call ever uses a number that was closed
/// and reused.
final class Descriptor: Sendable {
    let raw: Int32
    /// True if another thread closes it: closing a file of another machine or program waits for that (FUSE, NFS).
    private let closesApart: Bool

    init(owning raw: Int32, closingApart closesApart: Bool = false) {
        self.raw = raw
        self.closesApart = closesApart
    }

    deinit {
        guard closesApart else {
            close(raw)
            return
        }
        Self.closing.add { [raw] in close(raw) }
    }

    private static let closing = WorkQueue(threadName: "xferd-close", threadCount: 4)
}

/// Limits and shortage of file descriptors.
public enum Descriptors {
    /// The highest number of descriptors the process may have now (RLIMIT_NOFILE, getrlimit(2)).
    public static var limit: Int {
        var limits = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0 else { return .max }
        return Int(clamping: limits.rlim_cur)
    }

    /// True if `errno` means that no descriptor is left, in the process or in the system.
    public static func isShortage(_ code: Int32) -> Bool { code == EMFILE || code == ENFILE }

    /// The number of descriptors that a failed operation may have needed at once.
    private static let probed = 4

    /// True if so few descriptors are left that this may be the cause of the last failure. Libraries often do not
    /// report it.
    public static var areScarce: Bool {
        var opened: [Descriptor] = []
        for _ in 0..<probed {
            switch openDescriptor("/dev/null", flags: O_RDONLY) {
            case .value(let descriptor): opened.append(descriptor)
            case .failure(let code): return isShortage(code)
            }
        }
        return false
    }
}

extension FileError {
    /// True if no file descriptor was left.
    public var isDescriptorShortage: Bool {
        guard case .system(_, _, let code) = self else { return false }
        return Descriptors.isShortage(code)
    }
}

extension TransferError {
    /// The error, or a shortage of descriptors where that may be its cause: a directory that cannot be opened, a secret
    /// that cannot be read, a name that is not resolved.
    public var explainedByDescriptors: TransferError {
        switch reason {
        case .destinationDenied, .destinationUnavailable, .credentialMissing, .trustRejected, .sourceFileChanged,
            .dnsFailure, .connectFailed, .connectTimeout, .diskError, .fileMoveFailed, .postProcessFailed,
            .internalError:
            guard Descriptors.areScarce else { return self }
            var explained = TransferError(
                .outOfDescriptors, "too many open files (the limit is \(Descriptors.limit)): \(message)")
            explained.host = host
            return explained
        default:
            return self
        }
    }
}
