import ArgumentParser
import XferModel

/// `--segments 8` or `--segments auto`.
extension SegmentCount: @retroactive ExpressibleByArgument {
    public init?(argument: String) { self.init(argument) }

    public static var allValueStrings: [String] { range.map(String.init) + ["auto"] }
}
