import Glibc
public import XferModel

/// A file that is sent, opened again for an attempt and found to be what it was when the task was added.
public final class SourceOpening: Sendable {
    public let source: SourceFile
    private let file: Descriptor

    /// Opens the file under the path the client named. Where that leads was judged when the task was added; now it has to
    /// lead to that very inode, unchanged.
    ///
    /// - Throws: `changed` when it is another file, or another length or modification time, or is gone.
    public init(_ source: SourceFile) throws(SourceError) {
        self.source = source
        var facts = stat()
        guard stat(source.path, &facts) == 0 else { throw Self.refusal(errno, source.path) }
        try Self.check(source, facts)
        switch openDescriptor(source.path, flags: O_RDONLY | O_NONBLOCK | O_NOCTTY) {
        case .value(let file): self.file = file
        case .failure(let code): throw Self.refusal(code, source.path)
        }
        try checkUnchanged()
    }

    /// For pread(2) only: several may read at once. Valid as long as this object lives.
    public var descriptor: Int32 { file.raw }

    /// Whether it is still as it was: to be asked again after the last byte was read.
    public func checkUnchanged() throws(SourceError) {
        var facts = stat()
        guard fstat(file.raw, &facts) == 0 else { throw .system(path: source.path, code: errno) }
        try Self.check(source, facts)
    }

    private static func check(_ source: SourceFile, _ facts: stat) throws(SourceError) {
        try SourceError.requireRegular(facts, source.path)
        let now = SourceFile(path: source.path, facts)
        guard now.identity == source.identity else { throw .changed(path: source.path, "another file is there now") }
        guard now.length == source.length else {
            throw .changed(path: source.path, "it had \(source.length) bytes and has \(now.length)")
        }
        guard now.modifiedAt == source.modifiedAt else { throw .changed(path: source.path, "it was written to") }
    }

    private static func refusal(_ code: Int32, _ path: String) -> SourceError {
        switch code {
        case ENOENT, ENOTDIR: .changed(path: path, "it is gone")
        case EACCES, EPERM: .unreadable(path: path, code: code)
        default: .system(path: path, code: code)
        }
    }
}
