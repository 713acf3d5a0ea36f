public import XferModel

/// Decides how many small and how many large transfers run at the same time if the configuration sets no number.
///
/// Nothing is known of a transfer when it starts, so few start at first. Each small one that has ended lets two more
/// start, up to `mostSmall`; each one that turns out to be large halves that number. So a list of small files is
/// fetched many at a time, and a list of disk images is not. If disk images follow small files, many transfers that
/// started as small turn out to be large: the surplus returns to the queue, see `surplus`.
public struct TransferMix: Hashable, Sendable {
    public enum Kind: Hashable, Sendable, CaseIterable {
        /// Small, or not known yet.
        case small
        /// The body is longer than `largeLength`, or the transfer has run for longer than `shortTime` with an unknown
        /// length.
        case large
        /// The transfer waits for an answer for longer than `shortTime`, and uses neither bandwidth nor disk.
        case connecting
    }

    /// The most small transfers: as many as share an HTTP/2 connection.
    public static let mostSmall = 100
    public static let mostLarge = 6
    /// The number of large transfers beyond which running ones return to the queue; at this number no transfer starts.
    /// It is more than `mostLarge`, because a size shows only after the start.
    public static let mostLargeStarted = 2 * mostLarge
    /// An older transfer does not return to the queue.
    public static let youth = Duration.seconds(5)
    public static let mostConnecting = 128
    /// The number of transfers that start before any has shown its kind.
    public static let first = 32
    /// The length in bytes from which on a body is large.
    public static let largeLength: Int64 = 8 << 20
    public static let shortTime = Duration.seconds(1)

    private(set) var small = 0
    private(set) var large = 0
    private(set) var connecting = 0
    /// The number of transfers that may be small at once.
    private(set) var allowance = Self.first

    public init() {}

    /// True if one more may start. If the number of large ones is at its limit, small ones still start, but at most so
    /// many that twice the limit may turn out to be large.
    public var hasRoom: Bool {
        small < max(allowance, Self.mostLarge - large) && large < Self.mostLargeStarted
            && connecting < Self.mostConnecting
    }

    /// The number of transfers that may still start; for the size of pages that are read.
    var freeSlots: Int { max(0, max(allowance, Self.mostLarge - large) - small) }

    /// The known kind of a transfer.
    ///
    /// - Parameters:
    ///   - isConnecting: true if it waits for an answer.
    ///   - length: the length of its body in bytes; nil if unknown.
    ///   - age: the time since its start.
    public static func kind(isConnecting: Bool, length: Int64?, age: Duration) -> Kind {
        if isConnecting { return age >= shortTime ? .connecting : .small }
        if let length { return length > largeLength ? .large : .small }
        return age >= shortTime ? .large : .small
    }

    /// A large transfer that is under way.
    public struct Large: Hashable, Sendable {
        public var transfer: TransferID
        public var begunAt: MonotonicInstant
        /// True if it can be stopped and continued later without a loss, and was not known to be large when it began.
        public var mayReturn: Bool
        /// True if it was stopped already.
        public var isStopping: Bool

        public init(transfer: TransferID, begunAt: MonotonicInstant, mayReturn: Bool, isStopping: Bool) {
            self.transfer = transfer
            self.begunAt = begunAt
            self.mayReturn = mayReturn
            self.isStopping = isStopping
        }
    }

    /// True if more are large than may be.
    public var hasSurplus: Bool { large > Self.mostLargeStarted }

    /// The transfers to stop, which return to the queue with their bytes: the ones that began last, so that
    /// `mostLargeStarted` remain. Their sizes are known when they start again, so that none returns twice.
    public static func surplus(of large: [Large]) -> [TransferID] {
        let count = large.count { !$0.isStopping } - mostLargeStarted
        guard count > 0 else { return [] }
        let last = large.filter { $0.mayReturn && !$0.isStopping }
            .sorted { ($0.begunAt, $0.transfer) > ($1.begunAt, $1.transfer) }
        return last.prefix(count).map(\.transfer)
    }

    mutating func insert(_ kind: Kind) { change(kind, by: 1) }

    mutating func remove(_ kind: Kind) { change(kind, by: -1) }

    mutating func move(from kind: Kind, to other: Kind) {
        change(kind, by: -1)
        change(other, by: 1)
        if other == .large { allowance = max(1, allowance / 2) }
    }

    /// Called when the body of a small transfer has ended.
    mutating func onSmallEnd() { allowance = min(Self.mostSmall, allowance + 2) }

    private mutating func change(_ kind: Kind, by count: Int) {
        switch kind {
        case .small: small = max(0, small + count)
        case .large: large = max(0, large + count)
        case .connecting: connecting = max(0, connecting + count)
        }
    }
}
