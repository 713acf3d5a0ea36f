import XferModel

/// What an attempt has received of the body, over all its hops.
///
/// Invariant: `kept` describes the bytes that `writer` has written.
struct ReceivedBody {
    /// The resume data of the bytes below the writer's offset.
    var kept: ResumeData
    var writer: BodyWriter
    /// End of the attempt's part, once it was changed.
    var end: Int64?
}
