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
    /// Writes down the intent, which of two says whether it replaces a file, and what a restart has to know besides. False, and
    /// nothing is written, when another task holds the name.
    let commit: @Sendable (StoreTransaction, PublishIntent, Bool) throws -> Bool
    /// Is told once that is committed. It is committed again, with another intent, when somebody takes the name meanwhile.
    let onIntent: @Sendable () -> Void
}
