public import XferModel

/// Identifies a batch of the fleet.
public struct FleetBatchID: RawRepresentable, Hashable, Comparable, Sendable, CustomStringConvertible {
    public let rawValue: Int64

    public init(rawValue: Int64) { self.rawValue = rawValue }
    public init(_ rawValue: Int64) { self.rawValue = rawValue }

    public static func < (left: FleetBatchID, right: FleetBatchID) -> Bool { left.rawValue < right.rawValue }
    public var description: String { String(rawValue) }
}

/// A batch, with its tasks counted by their states.
public struct FleetBatchRow: Hashable, Sendable {
    public let id: FleetBatchID
    public let owner: String
    public let name: String?
    public let clientKey: String?
    public let createdAt: Timestamp
    public let counts: FleetCounts
}

/// The result of adding a batch.
public enum FleetBatchOutcome: Hashable, Sendable {
    case added(FleetBatchID)
    case existing(FleetBatchID)
    /// The `client_key` belongs to a batch with another fingerprint.
    case conflict(FleetBatchID)
}
