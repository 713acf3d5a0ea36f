import ArgumentParser
import XferModel

/// A number of segments, or `auto`.
struct SegmentsArgument: Hashable, Sendable, ExpressibleByArgument {
    let count: SegmentCount

    init?(argument: String) {
        guard let count = SegmentCount(argument) else { return nil }
        self.count = count
    }
}
