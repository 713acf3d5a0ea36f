import XferCore
import XferModel
import XferTestSupport

/// Zones of the machine's own database (tzdata).
enum Zones {
    static let directory = "/usr/share/zoneinfo"

    static func zone(_ name: String) throws -> TimeZoneRules {
        try TimeZoneFile.read(try FileTree.read("\(directory)/\(name)"))
    }
}

/// RFC 3339 text in tests; a slip fails the test at the first comparison.
func at(_ text: String) -> Timestamp { Timestamp(rfc3339: text) ?? Timestamp(rawValue: .min) }

extension Timestamp {
    var second: Int64 { rawValue / 1_000_000 }
}
