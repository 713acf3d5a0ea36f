import XferCore
import XferModel

/// The part of a hop's response head that has been received.
///
/// Invariant: `head` is set once, for the first response that libcurl does not answer with a credential itself.
struct HopResponse {
    var parser = HeadParser()
    /// Distinguishes a 401 that libcurl answers from a final one.
    var challenges = Challenges()
    var head: ResponseHead?
    /// See `AttemptOutcome.codings`.
    var codings: [ContentCoding] = []
}
