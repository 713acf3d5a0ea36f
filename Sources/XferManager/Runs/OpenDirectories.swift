import NIOConcurrencyHelpers
import XferFiles

/// The directories that runs have open: ten thousand files for one directory need not walk to it ten thousand times.
///
/// A directory is given out again only while its path leads to that very one, and only under the roots that allowed it.
final class OpenDirectories: Sendable {
    private struct Key: Hashable {
        let path: String
        let roots: AllowedRoots
    }

    private struct Entry {
        weak var directory: DirectoryHandle?
    }

    private let entries = NIOLockedValueBox<[Key: Entry]>([:])

    /// As `AllowedRoots.open(directory:)`. Blocks.
    func open(_ path: String, beneath roots: AllowedRoots) throws(FileError) -> DirectoryHandle {
        let key = Key(path: path, roots: roots)
        if let known = entries.withLockedValue({ $0[key]?.directory }), known.isSame(asPath: path) { return known }
        let opened = try roots.open(directory: path)
        entries.withLockedValue { entries in
            entries = entries.filter { $0.value.directory != nil }
            entries[key] = Entry(directory: opened)
        }
        return opened
    }
}
