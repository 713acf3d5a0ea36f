import Glibc
import XferModel
import XferThreads

/// A file of the spool directory while it is written. It is removed with its last reference unless `keep` has given it
/// its permanent name. After `keep` the caller holds this object until the database names the file.
public final class SpoolFile: Sendable {
    /// Its name in the spool directory, once it is kept.
    public let name: String
    private let directory: DirectoryHandle
    private let handle: Descriptor
    private let state: Locked<State>
    private let inUse: NamesInUse

    private struct State {
        /// Whether the directory has an entry for it.
        var isNamed: Bool
        var isKept = false
    }

    init(directory: DirectoryHandle, name: String, handle: Descriptor, isNamed: Bool, among inUse: NamesInUse) {
        self.directory = directory
        self.name = name
        self.handle = handle
        state = Locked(State(isNamed: isNamed))
        self.inUse = inUse
        inUse.insert(name)
    }

    deinit {
        let state = state.withLock { $0 }
        if state.isNamed, !state.isKept { unlinkat(directory.descriptor, name, 0) }
        inUse.remove(name)
    }

    /// Open for reading and writing as long as this object lives.
    public var descriptor: Int32 { handle.raw }

    private var path: String { directory.path(of: name) }

    /// Reads up to `length` bytes from its beginning.
    public func read(upTo length: Int) throws(FileError) -> [UInt8] {
        try readAll(handle, path: path, at: 0, upTo: length)
    }

    /// Writes its whole content, which is small.
    func write(_ bytes: [UInt8]) throws(FileError) {
        var written = 0
        while written < bytes.count {
            let (rest, position) = (bytes.count - written, written)
            written += try perform("write", on: path) {
                bytes.withUnsafeBytes { pwrite(handle.raw, $0.baseAddress.map { $0 + position }, rest, position) }
            }
        }
    }

    /// Makes the written bytes durable under the file's name. Blocks.
    public func keep() throws(FileError) {
        try perform("write out", on: path) { fdatasync(handle.raw) }
        if !state.withLock({ $0.isNamed }) {
            // By way of /proc: naming an unnamed file by its descriptor alone takes a capability (open(2), O_TMPFILE).
            try perform("name", on: path) {
                linkat(AT_FDCWD, "/proc/self/fd/\(handle.raw)", directory.descriptor, name, AT_SYMLINK_FOLLOW)
            }
        }
        state.withLock { state in
            state.isNamed = true
            state.isKept = true
        }
        try directory.sync()
    }
}

/// Names of the files that still have a `SpoolFile`.
final class NamesInUse: Sendable {
    private let names = Locked<Set<String>>([])

    func contains(_ name: String) -> Bool { names.withLock { $0.contains(name) } }
    func insert(_ name: String) { names.withLock { _ = $0.insert(name) } }
    func remove(_ name: String) { names.withLock { _ = $0.remove(name) } }
}
