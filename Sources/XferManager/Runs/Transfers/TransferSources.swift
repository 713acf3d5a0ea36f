import XferCore
import XferModel

/// The sources of a transfer during one run, and the source each segment connection asks.
///
/// A value without effects. Invariant: `selector.use` names every source whose bytes may be in the partial file; it is
/// committed before the first byte of a further source is written.
struct TransferSources {
    /// Selects the source of the next attempt and keeps each source's standing during this run.
    var selector: MirrorSelector
    /// Whether this run has received bytes that are kept.
    var hasGained = false
    private var choices: [Int: MirrorSelector.Choice] = [:]

    init(count: Int, use: SourceUse) { selector = MirrorSelector(count: count, use: use) }

    /// The source and fetch mode of a connection; a single attempt is connection 0.
    subscript(connection: Int) -> MirrorSelector.Choice {
        get { choices[connection] ?? MirrorSelector.Choice(source: 0, mode: .own) }
        set { choices[connection] = newValue }
    }

    /// Whether a connection's failure may be its source's alone: there are mirrors, and no other live connection asks
    /// the same source.
    func isAlone(_ connection: Int, among live: some Sequence<Int>) -> Bool {
        selector.hasMirrors && live.allSatisfy { self[$0].source != self[connection].source }
    }
}
