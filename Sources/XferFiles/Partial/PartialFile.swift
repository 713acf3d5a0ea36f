import CLinux
import Glibc
public import XferModel
import XferSystem

/// The file to which a transfer writes, in the directory in which it will be published.
///
/// The engine writes to `descriptor`. All other operations are methods of this class. They may be called from several
/// threads. The descriptor is closed once, after the running methods that use it have returned.
public final class PartialFile: Sendable {
    public let directory: DirectoryHandle
    /// The file's name in `directory`.
    public let name: String
    private let state: Locked<State>

    private struct State {
        /// The descriptor; nil once closed.
        var handle: Descriptor?
        var identity: FileIdentity
        var isPoisoned = false
        /// True if the directory's entry has to be made durable by the next `sync`.
        var isEntryNew: Bool
        var refused: [Attribute] = []
    }

    init(directory: DirectoryHandle, name: String, handle: Descriptor, isEntryNew: Bool) throws(FileError) {
        self.directory = directory
        self.name = name
        let identity = FileIdentity(try status(of: handle.raw, path: directory.path(of: name)))
        state = Locked(State(handle: handle, identity: identity, isEntryNew: isEntryNew))
    }

    /// The file's absolute path, for messages.
    public var path: String { directory.path(of: name) }

    public var identity: FileIdentity { state.withLock(\.identity) }

    /// The descriptor to which the engine writes; -1 after `close`.
    public var descriptor: Int32 { state.withLock { $0.handle?.raw ?? -1 } }

    /// An attribute of a file apart from its content.
    public enum Attribute: String, Sendable {
        case mode
        case modificationTime = "modification time"
    }

    /// The attributes that the file system did not allow `Publisher.prepare` to set.
    public var refusedAttributes: [Attribute] { state.withLock(\.refused) }

    func record(refused: [Attribute]) { state.withLock { $0.refused = refused } }

    /// Releases the descriptor. May be called again.
    public func close() { state.withLock { $0.handle = nil } }

    func handle() throws(FileError) -> Descriptor {
        guard let handle = state.withLock({ $0.handle }) else { throw .closed(path: path) }
        return handle
    }
}

// MARK: - Making and opening

extension PartialFile {
    /// Creates a new file with mode 0600.
    ///
    /// - Throws: `nameTaken` if the name exists, `notWritable` if the directory is not, `system`.
    public static func create(in directory: DirectoryHandle, named name: String) throws(FileError) -> PartialFile {
        try directory.requireSingleName(name)
        try directory.requireStillWritable()
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
        let isForeign = !directory.traits.isLocal
        switch openDescriptor(
            at: directory.descriptor, name, flags: flags, mode: 0o600, closesApart: isForeign)
        {
        case .value(let handle):
            return try PartialFile(directory: directory, name: name, handle: handle, isEntryNew: true)
        case .failure(EEXIST): throw .nameTaken(path: directory.path(of: name))
        case .failure(let code) where [EACCES, EPERM, EROFS].contains(code):
            throw .notWritable(path: directory.path, code: code)
        case .failure(let code): throw .system(operation: "make", path: directory.path(of: name), code: code)
        }
    }

    /// Gives a file a second name, in another directory. Nil if that is not possible: the directory is on another file
    /// system, or its files have one name only, or numbers that change with their names.
    ///
    /// - Throws: `nameTaken`; `partChanged` if the first name leads to another file; `notWritable`, `system`.
    public static func link(
        _ file: PartialFile, in directory: DirectoryHandle, named name: String
    ) throws(FileError) -> PartialFile? {
        try directory.requireSingleName(name)
        try directory.requireStillWritable()
        guard directory.traits.keepsInodeNumbers else { return nil }
        let result = retryingInterrupts {
            linkat(file.directory.descriptor, file.name, directory.descriptor, name, 0)
        }
        switch result {
        case .value: break
        case .failure(EEXIST): throw .nameTaken(path: directory.path(of: name))
        case .failure(ENOENT): throw .partChanged(path: file.path, problem: "it was removed")
        // Whatever the reason is, a copy may succeed.
        case .failure: return nil
        }
        let linked = try open(in: directory, named: name)
        guard linked.identity == file.identity else {
            linked.close()
            try directory.remove(name)
            throw .partChanged(path: file.path, problem: "another file has its name")
        }
        return linked
    }

    /// Opens the file that an earlier attempt or process has left.
    ///
    /// - Throws: `missing`, `notAPartialFile` if the name is not that of a regular file of this process's user,
    ///   `system`.
    public static func open(in directory: DirectoryHandle, named name: String) throws(FileError) -> PartialFile {
        try directory.requireSingleName(name)
        let path = directory.path(of: name)
        // `O_NONBLOCK`, because the name may be that of a FIFO.
        let flags = O_RDWR | O_NOFOLLOW | O_NONBLOCK
        let isForeign = !directory.traits.isLocal
        switch openDescriptor(at: directory.descriptor, name, flags: flags, closesApart: isForeign) {
        case .value(let handle):
            let facts = FileStatus(try XferFiles.status(of: handle.raw, path: path))
            guard facts.kind == .regular else { throw .notAPartialFile(path: path, problem: "not a regular file") }
            guard facts.owner == geteuid() else {
                throw .notAPartialFile(path: path, problem: "it belongs to uid \(facts.owner)")
            }
            return try PartialFile(directory: directory, name: name, handle: handle, isEntryNew: true)
        case .failure(ENOENT): throw .missing(path: path)
        case .failure(let code) where code == ELOOP || code == EISDIR || code == ENXIO:
            throw .notAPartialFile(path: path, problem: "not a regular file")
        case .failure(let code): throw .system(operation: "open", path: path, code: code)
        }
    }
}

// MARK: - Content

extension PartialFile {
    /// Returns the length in bytes.
    public func length() throws(FileError) -> Int64 {
        let handle = try handle()
        return Int64(clamping: try status(of: handle.raw, path: path).st_size)
    }

    /// Returns the number of bytes that the file takes on its file system, in whole blocks.
    public func allocatedSize() throws(FileError) -> Int64 {
        let handle = try handle()
        return Int64(clamping: try status(of: handle.raw, path: path).st_blocks).multipliedSaturated(by: 512)
    }

    /// Writes bytes at the beginning of the file. Do not call it while the engine writes.
    public func write(_ bytes: [UInt8]) throws(FileError) {
        let handle = try handle()
        try writeAll(bytes, to: handle, path: path)
    }

    /// Shortens the file, or lengthens it with zeros. Do not call it while the engine writes.
    public func truncate(to length: Int64) throws(FileError) {
        let handle = try handle()
        try perform("cut", on: path) { ftruncate(handle.raw, Int(clamping: length)) }
    }

    /// Renames another file of the same directory to this file's name. This object is that file from then on; its own
    /// content is deleted. The engine may write to the other file meanwhile, but not to this one.
    ///
    /// - Throws: `closed`, `system`.
    public func replace(with other: PartialFile) throws(FileError) {
        _ = try other.handle()
        try perform("rename", on: other.path) {
            renameat(directory.descriptor, other.name, directory.descriptor, name)
        }
        let taken = other.state.withLock { state in
            defer { state.handle = nil }
            return state
        }
        state.withLock { state in
            state = taken
            state.isEntryNew = true
        }
    }

    /// Metadata that `sync` makes durable together with the bytes.
    public enum SyncScope: Sendable {
        /// The length (fdatasync(2)): for checkpoints.
        case data
        /// Sync mode and times, too (fsync(2)): before publishing.
        case everything
    }

    /// Makes the written bytes durable. The first call also makes the directory's entry durable.
    ///
    /// If a system call fails here, the file is poisoned: the kernel may have dropped the bytes, and the next call
    /// would succeed nevertheless (fsync(2)). Close the file, open it again, and fetch again from the last committed
    /// offset.
    ///
    /// - Throws: `poisoned`, `closed`, `system`.
    public func sync(_ scope: SyncScope = .data) throws(FileError) {
        if let failure = Self.sync([self], scope)[0] { throw failure }
    }

    /// Does the same as `sync` for several files of one directory, with one fsync(2) for the directory's entries.
    /// Returns, for each file in order, its error or nil.
    static func sync(_ files: [PartialFile], _ scope: SyncScope) -> [FileError?] {
        if files.count > 1 {
            for file in files { if let handle = try? file.handle() { beginWriting(handle) } }
        }
        var failures = files.map { $0.syncContent(scope) }
        let new = files.indices.filter { failures[$0] == nil && files[$0].state.withLock(\.isEntryNew) }
        if let first = new.first {
            let failure = failure(of: files[first].directory)
            for index in new {
                files[index].state.withLock { state in
                    if failure == nil { state.isEntryNew = false } else { state.isPoisoned = true }
                }
                failures[index] = failure
            }
        }
        // A sync on another thread may have failed while this one waited in the kernel.
        for (index, file) in files.enumerated() where failures[index] == nil && file.state.withLock(\.isPoisoned) {
            failures[index] = .poisoned(path: file.path)
        }
        return failures
    }

    private func syncContent(_ scope: SyncScope) -> FileError? {
        do throws(FileError) {
            let handle = try handle()
            guard !state.withLock(\.isPoisoned) else { throw .poisoned(path: path) }
            do throws(FileError) {
                try perform("write out", on: path) { scope == .data ? fdatasync(handle.raw) : fsync(handle.raw) }
            } catch {
                state.withLock { $0.isPoisoned = true }
                throw error
            }
            return nil
        } catch {
            return error
        }
    }

    private static func failure(of directory: DirectoryHandle) -> FileError? {
        do throws(FileError) {
            try directory.sync()
            return nil
        } catch {
            return error
        }
    }

    /// Throws if a file of this length is larger than its file system or the process allows, as far as that can be
    /// determined. Does not wait for the file system.
    ///
    /// - Throws: `fileTooLarge`, `closed`.
    public func requirePossible(length: Int64) throws(FileError) {
        let handle = try handle()
        var limits = rlimit()
        if getrlimit(__rlimit_resource_t(RLIMIT_FSIZE.rawValue), &limits) == 0 {
            let limit = Int64(clamping: limits.rlim_cur)
            guard length <= limit else { throw .fileTooLarge(path: path, length: length, limit: limit) }
        }
        if let largest = directory.traits.largestFile, length > largest {
            throw .fileTooLarge(path: path, length: length, limit: nil)
        }
        // lseek(2): EINVAL beyond the largest offset of the file. Nothing else uses the file's own offset.
        guard case .failure(EINVAL) = retryingInterrupts({ lseek(handle.raw, off_t(clamping: length), SEEK_SET) })
        else { return }
        throw .fileTooLarge(path: path, length: length, limit: nil)
    }

    /// Reserves disk blocks for the bytes up to `length` without changing the file's length, where that is fast and
    /// useful (ext4, XFS, F2FS). The engine may write meanwhile.
    ///
    /// - Returns: true if all blocks are reserved. Reserved blocks no longer count as free space. If the disk becomes
    ///   full, the result is false although a part may be reserved; `releaseReserve` releases that part.
    @discardableResult
    public func preallocate(upTo length: Int64) -> Bool {
        guard length > 0, let handle = try? handle(), xfer_profits_from_reserving(handle.raw) else { return false }
        guard case .value = retryingInterrupts({ xfer_reserve_blocks(handle.raw, Int(clamping: length)) }) else {
            return false
        }
        return true
    }

    /// Releases the reserved blocks beyond the end of the file. Do not call it while the engine writes.
    public func releaseReserve() throws(FileError) { try truncate(to: try length()) }
}
