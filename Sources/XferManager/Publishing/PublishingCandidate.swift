import XferFiles
import XferModel
import XferStore

/// A whole, verified file and how it is to be published.
struct PublishingCandidate: Sendable {
    enum Outcome: Sendable {
        /// The file has the name in this intent.
        case published(PublishIntent)
        /// Another file has the name, and the policy is to keep that one.
        case skipped
        /// The run was asked to stop before anything was committed.
        case stopped
    }

    let file: PartialFile
    /// The requested name. `policy` may lead to another one.
    let name: String
    let policy: ConflictPolicy
    let control: RunControl
    /// Set before the file is made durable. Nil if it is durable already, mode and times included.
    let attributes: Publisher.Attributes?
    /// The digest of its content, if it was verified.
    let digest: Checksum?
    /// Opens its directory by path again, beneath a root of the owner's. Blocks.
    let reopen: @Sendable () throws -> DirectoryHandle
    /// Where `reopen` is called.
    let pathPool: BlockingPool
    /// Whether the task's lease is still in force.
    let isLeaseInForce: @Sendable () -> Bool
    /// Commits the intent, whether it replaces a file, and what else a restart has to know. Returns false and writes
    /// nothing if another task holds the name.
    let commit: @Sendable (StoreTransaction, PublishIntent, Bool) throws -> Bool
    /// Called after each such commit. There is another one, with a new intent, if the name is taken meanwhile.
    let onIntent: @Sendable () -> Void
}

/// Checks whether a directory's path still leads to the directory.
enum DirectoryPath {
    /// Throws if it does not: a client that looks for the file under its path would not find it.
    ///
    /// - Parameter reopen: opens the path again, beneath a root.
    /// - Throws: `destinationChanged` of `name`; for users the shortage of descriptors, too.
    static func requireLeading(
        to directory: DirectoryHandle, for name: String, _ reopen: () throws -> DirectoryHandle
    ) throws(FileError) {
        let problem: String
        do {
            if try reopen().identity == directory.identity { return }
            problem = "another directory is there now"
        } catch let error as FileError where directory.isForUsers && error.isDescriptorShortage {
            throw error
        } catch FileError.notWritable where !directory.isForUsers, FileError.system where !directory.isForUsers {
            // The identity of the directory can be compared all the same.
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
