import Glibc
import XferModel

/// The state directory's `cache/`: contents of cached responses, each in a file that is never written again.
///
/// The database determines which of them are needed. A file's name consists of the digest of its response's cache key
/// and a number that is never reused, so that new content never replaces content that is being read. Before content is
/// read, it is checked against its stored digest.
public final class CacheDirectory: Sendable {
    private let files: SpoolDirectory

    public init(_ place: StateSubdirectory) { files = SpoolDirectory(place) }

    /// A cache in a directory that is never created again.
    public convenience init(_ directory: DirectoryHandle) { self.init(StateSubdirectory(directory)) }

    public var directory: DirectoryHandle { files.directory }

    /// The reason why files cannot be created here, for operators; nil if they can.
    public var problem: String? { files.problem }

    /// Content that is being stored. The file is removed with this object unless `keep` was called, and is not swept
    /// while the object lives.
    public struct Incoming: Sendable {
        public let file: SpoolFile
        public let length: Int64
        /// SHA-256.
        public let digest: [UInt8]

        public var name: String { file.name }

        /// Makes the content durable under its name. Blocks.
        public func keep() throws(FileError) { try file.keep() }
    }

    /// Adds the first `length` bytes of an open file: it shares the blocks if the file system can, else it copies them.
    /// Blocks for as long as copying and reading takes.
    ///
    /// - Parameter onProgress: called with the number of bytes that are copied; see `FileCopy.copy`.
    /// - Throws: `system`, in particular if the disk is full; `cancelled`, `lengthMismatch`, `digestUnavailable`.
    public func add(
        from source: Int32, length: Int64, key: [UInt8], isCancelled: () -> Bool = { false },
        onProgress: (Int64) -> Void = { _ in }
    ) throws(FileError) -> Incoming {
        let file = try files.makeFile(named: try Self.newName(for: key))
        _ = try FileCopy.copy(
            from: source, to: file.descriptor, length: length, isCancelled: isCancelled, onProgress: onProgress)
        let digest = try FileDigest.compute(
            descriptor: file.descriptor, algorithm: .sha256, length: length, isCancelled: isCancelled)
        return Incoming(file: file, length: length, digest: digest.bytes)
    }

    /// Writes the content to an empty file and verifies its digest.
    ///
    /// - Throws: `damagedBlob` when the digest differs or the content is missing; `cancelled`, `system`, in particular
    ///   if the target's disk is full. Then the target's content is undefined.
    public func handOut(
        _ name: String, length: Int64, digest: [UInt8], to target: Int32, isCancelled: () -> Bool = { false }
    ) throws(FileError) {
        let handle = try open(name, length: length)
        do {
            _ = try FileCopy.copy(from: handle.raw, to: target, length: length, isCancelled: isCancelled)
        } catch .lengthMismatch {
            throw damage(name, "it is too short")
        }
        // The digest is computed from the copy: the caller verifies the very bytes it hands out.
        let found = try FileDigest.compute(
            descriptor: target, algorithm: .sha256, length: length, isCancelled: isCancelled)
        guard found.bytes == digest else { throw damage(name, "its digest differs") }
    }

    /// The content, which has to be small, checked as `handOut` does.
    public func read(_ name: String, length: Int64, digest: [UInt8]) throws(FileError) -> [UInt8] {
        let handle = try open(name, length: length)
        let bytes = try readAll(handle, path: directory.path(of: name), at: 0, upTo: Int(clamping: length))
        var context = try DigestContext(.sha256)
        bytes.withUnsafeBytes { context.update($0) }
        guard Int64(bytes.count) == length, try context.finish().bytes == digest else {
            throw damage(name, "its digest differs")
        }
        return bytes
    }

    /// Adds bytes in memory; see `add(from:length:key:isCancelled:)`.
    public func add(_ bytes: [UInt8], key: [UInt8]) throws(FileError) -> Incoming {
        let file = try files.makeFile(named: try Self.newName(for: key))
        try file.write(bytes)
        var context = try DigestContext(.sha256)
        bytes.withUnsafeBytes { context.update($0) }
        return Incoming(file: file, length: Int64(bytes.count), digest: try context.finish().bytes)
    }

    private func open(_ name: String, length: Int64) throws(FileError) -> Descriptor {
        let handle: Descriptor
        do {
            handle = try files.open(name)
        } catch .missing {
            throw damage(name, "it is gone")
        }
        let found = Int64(clamping: try status(of: handle.raw, path: directory.path(of: name)).st_size)
        guard found == length else { throw damage(name, "it has \(found) bytes instead of \(length)") }
        return handle
    }

    private func damage(_ name: String, _ problem: String) -> FileError {
        .damagedBlob(path: directory.path(of: name), problem: problem)
    }

    /// True if a file of this length exists; its content is verified only when it is copied out.
    public func holds(_ name: String, length: Int64) throws(FileError) -> Bool {
        try directory.status(of: name).map { $0.kind == .regular && $0.length == length } ?? false
    }

    /// Removes content; a copy that has begun still gets all of it. Does nothing if there is none.
    public func remove(_ name: String) throws(FileError) { try files.remove(name) }

    /// Names of the files in the directory, except those that are being stored.
    public func settledNames() throws(FileError) -> [String] { try files.settledNames() }

    private static func newName(for key: [UInt8]) throws(FileError) -> String {
        var context = try DigestContext(.sha256)
        key.withUnsafeBytes { context.update($0) }
        var generator = SystemRandomNumberGenerator()
        let generation = String(generator.next() as UInt64, radix: 16)
        let digits = try context.finish().bytes.map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
        return "\(digits)-\(generation)"
    }
}
