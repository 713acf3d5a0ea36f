/// Counts of a connection's segments, from which its receiver recognises losses.
///
/// A sender that loses packets while it sends small files estimates a slow line, and with BBR the estimate improves
/// only slowly. The receiver cannot see that estimate. It sees segments that arrive out of order after a lost one. A
/// new connection begins without the estimate.
public struct ConnectionLosses: Hashable, Sendable {
    /// The number of received segments with data.
    public var segments: UInt32
    /// The number of those segments that arrived out of order.
    public var outOfOrder: UInt32

    /// The shortest rest of a body, in bytes, for which a new connection is made: it and a second request take a few
    /// round trips.
    public static let leastBody: Int64 = 16 << 20
    /// The lowest number of segments out of order that counts; fewer may be due to one lost packet.
    static let least: UInt32 = 8
    /// The lowest share of segments out of order at which the line counts as lossy.
    static let share = 0.005

    public init(segments: UInt32, outOfOrder: UInt32) {
        self.segments = segments
        self.outOfOrder = outOfOrder
    }

    /// True if a body of this length is better fetched over a new connection.
    public func isTired(before bytes: Int64) -> Bool {
        bytes >= Self.leastBody && outOfOrder >= Self.least && Double(outOfOrder) >= Self.share * Double(segments)
    }
}
