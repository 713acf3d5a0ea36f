import Glibc
import XferSystem

/// The state of a root's path. It may be on a file system that does not answer, and a start does not wait for it.
enum RootStatus: Hashable, Sendable {
    case directory
    case other
    /// The path cannot be opened; with the error number.
    case unreachable(Int32)
    /// The file system did not answer within `patience`.
    case silent

    private static let patience = Duration.seconds(1)

    init(of root: String) {
        let found = Locked<RootStatus?>(nil)
        do throws(ThreadError) {
            try BackgroundThread.start("xferd-root") {
                let status = Self.query(root)
                found.withLock { $0 = status }
            }
        } catch {
            self = Self.query(root)
            return
        }
        let end = ContinuousClock.now + Self.patience
        while ContinuousClock.now < end {
            if let status = found.withLock(\.self) {
                self = status
                return
            }
            usleep(100)
        }
        self = .silent
    }

    private static func query(_ root: String) -> RootStatus {
        var status = stat()
        guard stat(root, &status) == 0 else { return .unreachable(errno) }
        return status.st_mode & S_IFMT == S_IFDIR ? .directory : .other
    }
}
