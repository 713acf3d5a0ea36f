import CLinux
import Glibc
public import XferModel

/// A regular file of a directory, open for reading. A symbolic link is never followed.
public final class ReadableFile: Sendable {
    private let handle: Descriptor
    private let path: String

    /// - Throws: `missing` if no regular file has the name; `system`.
    public init(in directory: DirectoryHandle, named name: String) throws(FileError) {
        try directory.requireSingleName(name)
        path = directory.path(of: name)
        // Non-blocking, because open(2) of a FIFO waits for a writer.
        let flags = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY
        switch openDescriptor(at: directory.descriptor, name, flags: flags) {
        case .value(let opened): handle = opened
        case .failure(let code) where [ENOENT, ELOOP, ENXIO].contains(code): throw .missing(path: path)
        case .failure(let code): throw .system(operation: "open", path: path, code: code)
        }
        guard FileStatus(try status(of: handle.raw, path: path)).kind == .regular else { throw .missing(path: path) }
    }

    var descriptor: Int32 { handle.raw }

    /// The file's present metadata.
    public func facts() throws(FileError) -> FileFacts { try FileFacts(handle, path: path) }

    /// Throws unless the users for whom its directory was opened may read it.
    ///
    /// - Throws: `notPermitted`, `undecidable`, `system`.
    public func requireReadable(in directory: DirectoryHandle) throws(FileError) {
        try directory.requireReadable(handle, at: path)
    }

    /// Computes the digest of the first `length` bytes. Blocks until they are read.
    public func digest(
        _ algorithm: Checksum.Algorithm, length: Int64, isCancelled: () -> Bool = { false }
    ) throws(FileError) -> Checksum {
        try FileDigest.compute(
            descriptor: handle.raw, algorithm: algorithm, length: length, path: path, isCancelled: isCancelled)
    }

    /// Reads up to `length` bytes from `offset` on; fewer at the file's end.
    public func read(at offset: Int64, upTo length: Int) throws(FileError) -> [UInt8] {
        try readAll(handle, path: path, at: offset, upTo: length)
    }
}

extension ReadableFile {
    /// Copies the first `length` bytes into an empty partial file. Blocks for as long as that takes.
    ///
    /// - Throws: as `FileCopy.copy`.
    public func copy(
        _ length: Int64, to part: PartialFile, isCancelled: () -> Bool = { false }
    ) throws(FileError) {
        let target = try part.handle()
        _ = try FileCopy.copy(from: descriptor, to: target.raw, length: length, isCancelled: isCancelled)
    }

    /// True if the partial file has the same bytes as this file in these segments, up to what is committed of each.
    /// Blocks until both are read.
    ///
    /// - Throws: `cancelled`, `closed`, `system`.
    public func agrees(
        with part: PartialFile, in segments: [Segment], isCancelled: () -> Bool = { false }
    ) throws(FileError) -> Bool {
        let other = try part.handle()
        for segment in segments {
            var offset = max(0, segment.start)
            while offset < segment.committed {
                if isCancelled() { throw .cancelled }
                let wanted = Int(clamping: min(Self.stretch, segment.committed - offset))
                let own = try read(at: offset, upTo: wanted)
                guard own.count == wanted,
                    try readAll(other, path: part.path, at: offset, upTo: wanted) == own
                else { return false }
                offset += Int64(clamping: wanted)
            }
        }
        return true
    }

    /// The number of bytes that are compared at a time.
    private static var stretch: Int64 { 1 << 20 }
}
