import ArgumentParser
import XferModel

/// A size or a rate as an argument: see `ByteSizeText`.
struct ByteAmount: Hashable, Sendable, ExplainedArgument {
    static var expected: String { "a size or rate in bytes such as 4096, 500K, 1.5MB, 2Mi or 1 GiB" }

    let bytes: Int64

    init(bytes: Int64) { self.bytes = bytes }

    init?(parsing text: String) {
        guard let bytes = ByteSizeText.parse(text) else { return nil }
        self.bytes = bytes
    }

    init?(argument: String) { self.init(parsing: argument) }
}

/// A span of time as an argument: see `DurationText`.
struct TimeSpan: Hashable, Sendable, ExplainedArgument {
    static var expected: String { "a duration such as 90 (seconds), 500ms, 15m, 1h30m or 2d" }

    let seconds: Double

    init(seconds: Double) { self.seconds = seconds }

    init?(parsing text: String) {
        guard let duration = XferModel.DurationText.parse(text) else { return nil }
        seconds = duration / .seconds(1)
    }

    init?(argument: String) { self.init(parsing: argument) }

    /// The span in whole seconds, rounded up, so that a short span does not become zero.
    var wholeSeconds: Int64 { Int64(saturating: seconds.rounded(.up)) }
}
