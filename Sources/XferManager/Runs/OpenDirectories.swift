import NIOConcurrencyHelpers
import XferFiles
import XferModel
import XferSystem

/// The open directories of runs, so that ten thousand files for one directory do not walk its path ten thousand times.
///
/// A directory is reused only while its path leads to it, and only under the roots that allowed it. A check stays valid
/// for 200 ms: a path may change right after any check, so a moment more makes no difference.
final class OpenDirectories: Sendable {
    private struct Key: Hashable {
        let path: String
        let roots: AllowedRoots
    }

    private struct Entry {
        weak var directory: DirectoryHandle?
        /// The time of the last check that its path leads to it.
        var seenAt: MonotonicInstant
        /// The time at which it was opened beneath its roots.
        var openedAt: MonotonicInstant
    }

    /// The time for which a check stays valid.
    private static let moment = Duration.milliseconds(200)

    private let entries = NIOLockedValueBox<[Key: Entry]>([:])

    /// The directory if it was opened or checked a moment ago.
    func justSeen(_ path: String, beneath roots: AllowedRoots) -> DirectoryHandle? {
        let now = Clocks.monotonic()
        return entries.withLockedValue { entries in
            guard let entry = entries[Key(path: path, roots: roots)], entry.seenAt.duration(to: now) < Self.moment
            else {
                return nil
            }
            return entry.directory
        }
    }

    /// Opens the directory like `AllowedRoots.open(directory:)`. Blocks.
    func open(_ path: String, beneath roots: AllowedRoots) throws(FileError) -> DirectoryHandle {
        let key = Key(path: path, roots: roots)
        let now = Clocks.monotonic()
        if let known = entries.withLockedValue({ $0[key]?.directory }), known.isSame(asPath: path) {
            entries.withLockedValue { $0[key]?.seenAt = now }
            return known
        }
        let opened = try roots.open(directory: path)
        entries.withLockedValue { entries in
            entries = entries.filter { $0.value.directory != nil }
            entries[key] = Entry(directory: opened, seenAt: now, openedAt: now)
        }
        return opened
    }

    /// Opens the directory like `open`, but always checks the path, and opens it beneath its roots unless that was done
    /// a moment ago: the path may now lead to the same directory from outside the roots. Blocks.
    func reopen(_ path: String, beneath roots: AllowedRoots) throws(FileError) -> DirectoryHandle {
        let key = Key(path: path, roots: roots)
        let now = Clocks.monotonic()
        let entry = entries.withLockedValue { $0[key] }
        if let entry, let known = entry.directory, entry.openedAt.duration(to: now) < Self.moment,
            known.isSame(asPath: path)
        {
            return known
        }
        let opened = try roots.open(directory: path)
        entries.withLockedValue { entries in
            guard entries[key]?.directory?.identity == opened.identity else { return }
            entries[key]?.seenAt = now
            entries[key]?.openedAt = now
        }
        return opened
    }
}
