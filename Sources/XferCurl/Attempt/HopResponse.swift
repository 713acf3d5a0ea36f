import XferCore
import XferModel

/// The head of a hop's response, as far as it has come.
///
/// Invariant: `head` is set once, when no challenge of the server is left that libcurl may answer.
struct HopResponse {
    var parser = HeadParser()
    /// Distinguishes a 401 that libcurl answers from a final one.
    var challenges = Challenges()
    var head: ResponseHead?
    /// See `AttemptOutcome.codings`.
    var codings: [ContentCoding] = []
}
