import CLinux
import Glibc
public import XferModel

/// The state directory's `spool/`: responses too large for a row, and copies of files that are to be sent.
///
/// Every file has a unique name and is never written again once it is kept. The database refers to the needed files;
/// any other is left over from a crash.
public final class SpoolDirectory: Sendable {
    private let place: StateSubdirectory
    private let inUse = NamesInUse()

    public init(_ place: StateSubdirectory) { self.place = place }

    /// A spool in a directory that is never made again.
    public convenience init(_ directory: DirectoryHandle) { self.init(StateSubdirectory(directory)) }

    public var directory: DirectoryHandle { place.handle }

    /// The reason why files cannot be created here, for operators; nil if they can.
    public var problem: String? { place.problem }

    /// A new, empty file, which is removed when it is closed without having been kept.
    ///
    /// - Parameter name: its name once it is kept; it must never have been used before. Nil generates one.
    public func makeFile(named name: String? = nil) throws(FileError) -> SpoolFile {
        let name = name ?? Self.newName()
        let directory = try place.current()
        let flags = O_RDWR | Int32(XFER_O_TMPFILE)
        switch openDescriptor(at: directory.descriptor, ".", flags: flags, mode: 0o600) {
        case .value(let handle): return file(handle, name, in: directory, isNamed: false)
        // A file system without unnamed files (open(2)).
        case .failure(let code) where [EOPNOTSUPP, EISDIR, ENOENT, EINVAL].contains(code):
            return try makeNamedFile(name, in: directory)
        case .failure(let code): throw .system(operation: "make a file in", path: directory.path, code: code)
        }
    }

    private func makeNamedFile(_ name: String, in directory: DirectoryHandle) throws(FileError) -> SpoolFile {
        let flags = O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW
        switch openDescriptor(at: directory.descriptor, name, flags: flags, mode: 0o600) {
        case .value(let handle): return file(handle, name, in: directory, isNamed: true)
        case .failure(let code): throw .system(operation: "make", path: directory.path(of: name), code: code)
        }
    }

    private func file(
        _ handle: Descriptor, _ name: String, in directory: DirectoryHandle, isNamed: Bool
    ) -> SpoolFile {
        SpoolFile(
            place: place, directory: directory, name: name, handle: handle, isNamed: isNamed, among: inUse)
    }

    /// Copies a file that is to be sent, and keeps the copy. Blocks for as long as copying takes.
    ///
    /// - Parameter onProgress: called with the number of bytes that are copied; see `FileCopy.copy`.
    /// - Throws: `sourceChanged` also when it changes while it is copied; `system`.
    public func copy(
        of source: SourceFile, by admission: SourceAdmission, onProgress: (Int64) -> Void = { _ in }
    ) throws(FileError) -> SpoolFile {
        let original = try SendableFile(source, by: admission)
        let copy = try makeFile()
        _ = try FileCopy.copy(
            from: original.descriptor, to: copy.descriptor, length: source.length, onProgress: onProgress)
        try original.checkUnchanged()
        try copy.keep()
        return copy
    }

    /// Reads up to `length` bytes of a kept file; fewer at its end.
    ///
    /// - Throws: `missing` when there is no such file.
    public func read(_ name: String, at offset: Int64, upTo length: Int) throws(FileError) -> [UInt8] {
        let handle = try open(name)
        return try readAll(handle, path: directory.path(of: name), at: offset, upTo: length)
    }

    /// Removes a file; does nothing when there is none.
    public func remove(_ name: String) throws(FileError) { try directory.remove(name) }

    /// Names of the files in the directory, except those that still have a `SpoolFile`, since they may not be kept yet.
    public func settledNames() throws(FileError) -> [String] {
        try names().filter { !inUse.contains($0) }
    }

    private func names() throws(FileError) -> [String] {
        let directory = try place.current()
        guard let stream = opendir(directory.path) else {
            throw .system(operation: "list", path: directory.path, code: errno)
        }
        defer { closedir(stream) }
        var names: [String] = []
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: entry.pointee.d_name) { raw in
                String(decoding: raw.prefix { $0 != 0 }, as: UTF8.self)
            }
            if name != "." && name != ".." { names.append(name) }
        }
        return names
    }

    func open(_ name: String) throws(FileError) -> Descriptor {
        try directory.requireSingleName(name)
        switch openDescriptor(at: directory.descriptor, name, flags: O_RDONLY | O_NOFOLLOW) {
        case .value(let handle): return handle
        case .failure(ENOENT): throw .missing(path: directory.path(of: name))
        case .failure(let code): throw .system(operation: "open", path: directory.path(of: name), code: code)
        }
    }

    /// 128 random bits: names are never reused, so a late removal never removes another file.
    private static func newName() -> String {
        var generator = SystemRandomNumberGenerator()
        return [generator.next(), generator.next()].map { (word: UInt64) in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }.joined()
    }
}

/// Reads up to `length` bytes at `offset`; fewer at the file's end.
func readAll(
    _ handle: Descriptor, path: @autoclosure () -> String, at offset: Int64, upTo length: Int
) throws(FileError) -> [UInt8] {
    var bytes = [UInt8](repeating: 0, count: max(0, length))
    var count = 0
    while count < bytes.count {
        let position = Int(clamping: offset).addingSaturated(count)
        let wanted = bytes.count - count
        let read = try perform("read", on: path()) {
            bytes.withUnsafeMutableBytes { pread(handle.raw, $0.baseAddress.map { $0 + count }, wanted, position) }
        }
        guard read > 0 else { break }
        count += read
    }
    bytes.removeSubrange(count...)
    return bytes
}
