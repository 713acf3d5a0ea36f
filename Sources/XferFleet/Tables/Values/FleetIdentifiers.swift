/// Identifies a task of the fleet. Assigned by the database, never reused.
public struct FleetTaskID: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    public let rawValue: Int64

    public init(rawValue: Int64) { self.rawValue = rawValue }
    init(_ rawValue: Int64) { self.rawValue = rawValue }

    public static func < (left: FleetTaskID, right: FleetTaskID) -> Bool { left.rawValue < right.rawValue }
    public var description: String { String(rawValue) }
}

/// Identifies a node of the fleet until it is removed.
struct FleetNodeID: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    let rawValue: Int64

    init(rawValue: Int64) { self.rawValue = rawValue }
    init(_ rawValue: Int64) { self.rawValue = rawValue }

    static func < (left: FleetNodeID, right: FleetNodeID) -> Bool { left.rawValue < right.rawValue }
    var description: String { String(rawValue) }
}

/// Identifies one claim of a task: 122 random bits (RFC 9562 §5.4), because a counter could be used twice after the
/// promotion of a standby that lacks the last commits.
struct FleetClaimID: Hashable, Sendable, CustomStringConvertible {
    /// The text in the form of PostgreSQL's `uuid`: lower case with hyphens.
    let text: String

    /// Creates the identifier. Returns nil unless `text` has the form of an `uuid`.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        guard bytes.count == 36 else { return nil }
        for (index, byte) in bytes.enumerated() {
            let isHyphen = [8, 13, 18, 23].contains(index)
            let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
            let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte)
            guard isHyphen ? byte == UInt8(ascii: "-") : isDigit || isLetter else { return nil }
        }
        self.text = text
    }

    var description: String { text }
}

/// A task under one claim. Every write of a node contains both, and a void claim matches no row.
public struct FleetClaimKey: Hashable, Sendable {
    let task: FleetTaskID
    let claim: FleetClaimID
}
