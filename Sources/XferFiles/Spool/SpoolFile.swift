import Glibc
import XferModel
import XferSystem

/// A file of the spool directory while it is being written. Unless `keep` has made it permanent, the file is removed
/// with the last reference to this object. After `keep` the caller keeps this object until the database refers to the
/// file.
public final class SpoolFile: Sendable {
    /// The file's name in the spool directory. If the file system supports files without a name, the name exists only
    /// after `keep`.
    public let name: String
    private let place: StateSubdirectory
    private let handle: Descriptor
    private let state: Locked<State>
    private let inUse: NamesInUse

    private struct State {
        /// The directory that has, or is to have, the file's name.
        var directory: DirectoryHandle
        /// True if the directory has an entry for the file.
        var isNamed: Bool
        var isKept = false
    }

    init(
        place: StateSubdirectory, directory: DirectoryHandle, name: String, handle: Descriptor, isNamed: Bool,
        among inUse: NamesInUse
    ) {
        self.place = place
        self.name = name
        self.handle = handle
        state = Locked(State(directory: directory, isNamed: isNamed))
        self.inUse = inUse
        inUse.insert(name)
    }

    deinit {
        let state = state.withLock { $0 }
        if state.isNamed, !state.isKept { unlinkat(state.directory.descriptor, name, 0) }
        inUse.remove(name)
    }

    /// A descriptor for reading and writing. It is open as long as this object lives.
    public var descriptor: Int32 { handle.raw }

    private var path: String { state.withLock { $0.directory }.path(of: name) }

    /// Reads up to `length` bytes from the beginning of the file.
    public func read(upTo length: Int) throws(FileError) -> [UInt8] {
        try readAll(handle, path: path, at: 0, upTo: length)
    }

    /// Writes the whole content of the file, which has to be small.
    func write(_ bytes: [UInt8]) throws(FileError) { try writeAll(bytes, to: handle, path: path) }

    /// Makes the written bytes and the file's name durable. Blocks.
    ///
    /// - Throws: `system`; `missing` if the file had a name that was removed meanwhile.
    public func keep() throws(FileError) {
        try perform("write out", on: path) { fdatasync(handle.raw) }
        let directory = try place.current()
        let (before, isNamed) = state.withLock { ($0.directory, $0.isNamed) }
        if !isNamed {
            // The path in /proc avoids `AT_EMPTY_PATH`, which needs a capability to name an unnamed file (open(2),
            // O_TMPFILE).
            try perform("name", on: path) {
                linkat(AT_FDCWD, "/proc/self/fd/\(handle.raw)", directory.descriptor, name, AT_SYMLINK_FOLLOW)
            }
        } else if directory.identity != before.identity {
            throw .missing(path: path)
        }
        state.withLock { state in
            state.directory = directory
            state.isNamed = true
            state.isKept = true
        }
        try directory.sync()
    }
}

/// The names of the spool files for which a `SpoolFile` object exists.
final class NamesInUse: Sendable {
    private let names = Locked<Set<String>>([])

    func contains(_ name: String) -> Bool { names.withLock { $0.contains(name) } }
    func insert(_ name: String) { names.withLock { _ = $0.insert(name) } }
    func remove(_ name: String) { names.withLock { _ = $0.remove(name) } }
}
