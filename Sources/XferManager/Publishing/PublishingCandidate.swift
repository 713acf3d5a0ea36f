import XferFiles
import XferModel
import XferStore

/// A file that is whole and right, and what it is to become.
struct PublishingCandidate: Sendable {
    enum Outcome: Sendable {
        /// It has this name.
        case published(PublishIntent)
        /// A file has the name, and the policy is to leave it at that.
        case skipped
        /// The run was told to stop before anything was committed.
        case stopped
    }

    let file: PartialFile
    /// The name it is to have; which one it gets is for `policy` to say.
    let name: String
    let policy: ConflictPolicy
    let control: RunControl
    /// What the file gets before it is made durable. Nil when it is, mode and times included.
    let attributes: Publisher.Attributes?
    /// Of its content, where it was verified.
    let digest: Checksum?
    /// Opens its directory's path again, beneath a root of the owner's. Blocks.
    let reopen: @Sendable () throws -> DirectoryHandle
    /// Writes down the intent, which of two says whether it replaces a file, and what a restart has to know besides. False, and
    /// nothing is written, when another task holds the name.
    let commit: @Sendable (StoreTransaction, PublishIntent, Bool) throws -> Bool
    /// Is told once that is committed. It is committed again, with another intent, when somebody takes the name meanwhile.
    let onIntent: @Sendable () -> Void
}

/// Whether a directory's path still leads to the directory.
enum DirectoryPath {
    /// Throws when it does not: whoever looked for a file there would not find it.
    ///
    /// - Parameter reopen: opens the path again, beneath a root.
    /// - Throws: `destinationChanged` of `name`.
    static func requireLeading(
        to directory: DirectoryHandle, for name: String, _ reopen: () throws -> DirectoryHandle
    ) throws(FileError) {
        let problem: String
        do {
            if try reopen().identity == directory.identity { return }
            problem = "another directory is there now"
        } catch FileError.notWritable, FileError.system {
            // Which directory it is can be seen all the same.
            if directory.isSame(asPath: directory.path) { return }
            problem = "another directory is there now"
        } catch FileError.missing {
            problem = "the directory is gone from there"
        } catch {
            problem = "\(error)"
        }
        throw .destinationChanged(path: directory.path(of: name), problem: problem)
    }
}
