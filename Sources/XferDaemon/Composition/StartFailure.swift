import Glibc
import XferManager
import XferModel

/// Distinguishes failures that an operator has to repair from failures that a restart may remove.
enum StartFailure {
    static func needsAttention(_ error: any Error) -> Bool {
        switch error {
        case is SettingsRejection, is InstancePathsError: true
        default: TransferManager.isDamage(error) || TrustPolicies.isPolicyFault(error)
        }
    }

    /// Returns advice for a state directory whose file system prevents writing; nil if it does not, or if that cannot
    /// be checked. It checks the file system rather than the error: many calls of several libraries fail in this case,
    /// each with its own text.
    static func advice(stateDirectory path: String) -> String? {
        var path = path
        var facts = statvfs()
        // The directory may not exist yet.
        while statvfs(path, &facts) != 0 {
            guard errno == ENOENT, let slash = path.lastIndex(of: "/"), slash != path.startIndex else { return nil }
            path = String(path[..<slash])
        }
        if facts.f_flag & UInt(ST_RDONLY) != 0 {
            return "the file system of \(path) is read-only: make it writable, then start xferd again"
        }
        let (free, overflow) = UInt64(clamping: facts.f_bavail).multipliedReportingOverflow(
            by: UInt64(clamping: facts.f_frsize))
        let hasNames = facts.f_files == 0 || facts.f_favail > 0
        guard !overflow, free < leastSpace || !hasNames else { return nil }
        return "the file system of \(path) is full: make room for at least 1 MiB, then start xferd again"
    }

    /// The number of bytes that a start needs: the log of the database, its index, and a record of crashes.
    private static let leastSpace: UInt64 = 1 << 20
}
