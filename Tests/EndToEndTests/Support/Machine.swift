import Glibc
import XferTestSupport

/// What this machine lets tests do.
enum Machine {
    static let isRoot = getuid() == 0

    /// Long runs and what needs much of the machine: `make soak`.
    static let isSoak = Campaign.isSoak

    /// How many times as many seeds a property test tries.
    static let soakFactor = Campaign.soakFactor

    /// Whether file systems can be mounted here, tried once.
    static let canMount: Bool = {
        guard isRoot, let directory = try? TemporaryDirectory("xfer-mount") else { return false }
        guard mount("tmpfs", directory.path, "tmpfs", 0, "size=64k") == 0 else { return false }
        return umount(directory.path) == 0
    }()
}

/// A small file system in memory, unmounted with the last reference.
final class SmallFileSystem: Sendable {
    let path: String
    private let directory: TemporaryDirectory

    init(bytes: Int64) throws {
        directory = try TemporaryDirectory("xfer-small")
        path = directory.path
        guard mount("tmpfs", path, "tmpfs", 0, "size=\(bytes),mode=0755") == 0 else {
            throw PosixError("mount \(path)")
        }
    }

    deinit { umount2(path, Int32(MNT_DETACH)) }

    /// The bytes that can still be written.
    var freeBytes: Int64 {
        get throws {
            var figures = statvfs()
            guard statvfs(path, &figures) == 0 else { throw PosixError("statvfs \(path)") }
            return Int64(clamping: figures.f_bavail) * Int64(clamping: figures.f_frsize)
        }
    }

    /// Makes it larger or smaller while it is used.
    func resize(to bytes: Int64) throws { try remount(options: "size=\(bytes)") }

    /// Makes it read-only for all users, root too; nothing may be open for writing.
    func makeReadOnly() throws { try remount(UInt(MS_RDONLY)) }

    func makeWritable() throws { try remount() }

    private func remount(_ flags: UInt = 0, options: String = "") throws {
        guard mount("tmpfs", path, "tmpfs", UInt(MS_REMOUNT) | flags, options) == 0 else {
            throw PosixError("remount \(path)")
        }
    }
}
