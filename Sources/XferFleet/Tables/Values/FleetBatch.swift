import XferModel

/// Identifies a batch of the fleet.
public struct FleetBatchID: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    public let rawValue: Int64

    public init(rawValue: Int64) { self.rawValue = rawValue }
    init(_ rawValue: Int64) { self.rawValue = rawValue }

    public static func < (left: FleetBatchID, right: FleetBatchID) -> Bool { left.rawValue < right.rawValue }
    public var description: String { String(rawValue) }
}

/// A batch, with its tasks counted by their states.
struct FleetBatchRow: Hashable, Sendable {
    let id: FleetBatchID
    let owner: String
    let name: String?
    let clientKey: String?
    let createdAt: Timestamp
    let counts: FleetCounts
}

/// The result of adding a batch.
enum FleetBatchOutcome: Hashable, Sendable {
    case added(FleetBatchID)
    case existing(FleetBatchID)
    /// The `client_key` belongs to a batch with another fingerprint.
    case conflict(FleetBatchID)
}
