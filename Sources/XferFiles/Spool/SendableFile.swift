import CLinux
import Glibc
public import XferModel

/// A file that is open for sending, checked to be unchanged since its task was added.
public final class SendableFile: Sendable {
    /// The identity, length and modification time that the file must keep while it is read.
    public let source: SourceFile
    private let handle: Descriptor

    public var descriptor: Int32 { handle.raw }

    /// Opens the file that the client named, with the owner's present permissions, and checks that it is unchanged.
    ///
    /// - Parameter admission: the files that the task's owner may read.
    /// - Throws: `sourceChanged`, also if the file is missing or the task's owner may not read it; `undecidable`,
    ///   `system`.
    public init(_ source: SourceFile, by admission: SourceAdmission) throws(FileError) {
        do throws(FileError) {
            handle = try admission.reopen(source.path)
        } catch {
            switch error {
            case .missing, .notADirectory, .isADirectory:
                throw .sourceChanged(path: source.path, problem: "it no longer exists")
            case .notPermitted, .outsideRoots, .forbidden:
                throw .sourceChanged(path: source.path, problem: "\(error)")
            default: throw error
            }
        }
        self.source = source
        try checkUnchanged()
    }

    /// Checks that the file is unchanged; call it again after the last byte was read.
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

    /// Opens the copy that is sent instead of the file.
    ///
    /// - Throws: `sourceChanged` if the copy is missing or has another length; `system`.
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
    /// The time of the last change of the content; see `FileTime`.
    var modificationNanoseconds: Int64 {
        FileTime.nanoseconds(seconds: st_mtim.tv_sec, nanoseconds: st_mtim.tv_nsec)
    }
}
