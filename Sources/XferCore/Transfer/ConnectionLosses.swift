/// What a connection has shown of losses on its line, as its receiver sees them.
///
/// A sender that loses packets while it sends small files takes the line for a slow one, and with BBR it learns only
/// slowly that it is not. The receiver cannot see that estimate. It sees segments that came out of order: those behind
/// a lost one. A new connection begins without the estimate.
public struct ConnectionLosses: Hashable, Sendable {
    /// Received segments with data.
    public var segments: UInt32
    /// Those of them that came out of order.
    public var outOfOrder: UInt32

    /// A new connection and a second request take a few round trips, which shorter bodies are not worth.
    public static let leastBody: Int64 = 16 << 20
    /// Fewer may be due to one lost packet.
    static let least: UInt32 = 8
    /// A smaller part of the segments is no lossy line.
    static let share = 0.005

    public init(segments: UInt32, outOfOrder: UInt32) {
        self.segments = segments
        self.outOfOrder = outOfOrder
    }

    /// True if a body of so many bytes is better fetched over a new connection.
    public func isTired(before bytes: Int64) -> Bool {
        bytes >= Self.leastBody && outOfOrder >= Self.least && Double(outOfOrder) >= Self.share * Double(segments)
    }
}
