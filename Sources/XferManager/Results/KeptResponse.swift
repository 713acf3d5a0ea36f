import XferFiles
import XferStore

/// A response that is to be committed, with its file if it is large. The file belongs to the run until the row is
/// committed.
struct KeptResponse: Sendable {
    var result: StoredResult
    var file: SpoolFile?
}
