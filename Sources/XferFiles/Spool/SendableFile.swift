import CLinux
import Glibc
public import XferModel

/// A file open for sending, found to be what it was when its task was added.
public final class SendableFile: Sendable {
    /// What is read has to be this all the while.
    public let source: SourceFile
    private let handle: Descriptor

    public var descriptor: Int32 { handle.raw }

    /// Opens the file the client named. Whoever may read it was looked at when it was added; here it only has to be the
    /// same file, unchanged.
    ///
    /// - Throws: `sourceChanged`, also when it is gone; `system`.
    public init(_ source: SourceFile) throws(FileError) {
        // Not blocking: somebody may have put a FIFO there.
        switch openDescriptor(source.path, flags: O_RDONLY | O_NONBLOCK | O_NOCTTY) {
        case .value(let opened): handle = opened
        case .failure(ENOENT), .failure(ENOTDIR), .failure(ELOOP), .failure(ENXIO):
            throw .sourceChanged(path: source.path, problem: "it is not there any more")
        case .failure(let code): throw .system(operation: "open", path: source.path, code: code)
        }
        self.source = source
        try checkUnchanged()
    }

    /// Whether it is still as it was: to be asked again after the last byte was read.
    ///
    /// - Throws: `sourceChanged`, `system`.
    public func checkUnchanged() throws(FileError) {
        let facts = try status(of: handle.raw, path: source.path)
        if FileIdentity(facts) != source.identity {
            throw .sourceChanged(path: source.path, problem: "another file has its name now")
        }
        if Int64(clamping: facts.st_size) != source.length {
            throw .sourceChanged(
                path: source.path, problem: "it had \(source.length) bytes and has \(facts.st_size) now")
        }
        if facts.modificationNanoseconds != source.modifiedAt {
            throw .sourceChanged(path: source.path, problem: "it was written to")
        }
    }

    /// Opens the copy that is sent in place of the file.
    ///
    /// - Throws: `sourceChanged` when it is gone or shorter; `system`.
    public init(_ source: SourceFile, spooledAs name: String, in spool: SpoolDirectory) throws(FileError) {
        do {
            handle = try spool.open(name)
        } catch .missing {
            throw .sourceChanged(path: source.path, problem: "its copy in the spool directory is gone")
        }
        let facts = try status(of: handle.raw, path: spool.directory.path(of: name))
        guard Int64(clamping: facts.st_size) == source.length else {
            throw .sourceChanged(
                path: source.path, problem: "its copy has \(facts.st_size) bytes instead of \(source.length)")
        }
        var copy = source
        copy.identity = FileIdentity(facts)
        copy.modifiedAt = facts.modificationNanoseconds
        self.source = copy
    }
}

extension stat {
    /// When the content was last changed: see `FileTime`.
    var modificationNanoseconds: Int64 {
        FileTime.nanoseconds(seconds: st_mtim.tv_sec, nanoseconds: st_mtim.tv_nsec)
    }
}
