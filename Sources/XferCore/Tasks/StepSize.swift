import XferModel

/// The number of elements that one transaction of a long change processes. It is chosen so that other changes wait
/// about equally long on any machine.
public struct StepSize: Hashable, Sendable {
    /// The desired time of a step: other changes wait for the step and its commit.
    public static let target = Duration.milliseconds(15)
    /// The smallest number of elements: fewer cost more in commits than they save in waiting.
    public static let least = 20

    /// The number of elements of the next step.
    public private(set) var count: Int
    private let largest: Int

    /// Begins with a quarter of the largest step.
    public init(largest: Int) {
        self.largest = max(1, largest)
        count = max(min(Self.least, self.largest), self.largest / 4)
    }

    /// Records the time of a step. The next one is at most twice as large and at least half as large as `done`.
    public mutating func record(_ done: Int, took duration: Duration) {
        // A smaller step than the last wanted one says little: it was the end of a page.
        guard done > 0, done >= count / 2 else { return }
        let ratio = duration > .zero ? min(2, max(0.5, Self.target / duration)) : 2
        count = min(max(Int(saturating: (Double(done) * ratio).rounded()), min(Self.least, largest)), largest)
    }
}
