import XferFiles
import XferStore

/// A response on its way into the database, with the file it lies in if it is large: that stays the run's until the
/// database names it.
struct KeptResponse: Sendable {
    var result: StoredResult
    var file: SpoolFile?
}
