import Glibc
import XferSystem

/// The identity of the database's file and its log, to detect that their names lead elsewhere: deleted with their
/// directory, moved away, or replaced. SQLite itself continues to write to files that no later start will find.
///
/// Checked before and after each commit, with two calls of stat(2) each: a microsecond, while a sync takes fifty or
/// more. With rarer checks, an add could be confirmed whose task the next start does not find. An open descriptor would
/// show less, since a moved file still has a name, and closing it would release SQLite's locks
/// (https://sqlite.org/howtocorrupt.html, 2.2).
struct DatabasePlace: Sendable {
    private struct Identity: Equatable {
        let device: UInt64
        let inode: UInt64

        /// Reads the identity of the files. Returns nil when there is no file.
        init?(_ path: String) {
            var status = stat()
            guard stat(path, &status) == 0 else { return nil }
            (device, inode) = (UInt64(clamping: status.st_dev), UInt64(clamping: status.st_ino))
        }
    }

    private let files: [(path: String, identity: Identity)]

    /// Records the present files; the database is open and its log was made.
    ///
    /// - Throws: `StoreError.vanished`.
    init(_ path: String) throws(StoreError) {
        var files: [(path: String, identity: Identity)] = []
        for path in [path, path + "-wal"] {
            guard let identity = Identity(path) else { throw .vanished(path: path) }
            files.append((path, identity))
        }
        self.files = files
    }

    /// The reason why a commit would be lost; nil while both files have their names.
    var fault: StoreError? {
        for file in files where Identity(file.path) != file.identity { return .vanished(path: file.path) }
        return nil
    }
}
