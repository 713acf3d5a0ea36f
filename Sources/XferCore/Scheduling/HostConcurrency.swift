/// The known number of transfers that a host serves at once, while it is in question.
///
/// A host is in question from its first refusal beside transfers that it serves until nothing of it runs any more, so
/// the memory is bounded by the running transfers.
public struct HostConcurrency: Hashable, Sendable {
    /// The highest number that each host in question has served at the same time.
    private var served: [String: Int] = [:]

    public init() {}

    /// True if no host is in question.
    public var isEmpty: Bool { served.isEmpty }

    /// True if the number of served transfers of this host matters.
    public func isInQuestion(_ host: String) -> Bool { served[host] != nil }

    /// Records that the host has refused a transfer while it serves `others`. Returns the number of others that may
    /// explain that: 0 if the host was seen to serve more than these.
    public mutating func onRefusal(by host: String, whileServing others: Int) -> Int {
        guard others > 0 else { return 0 }
        let known = served[host] ?? 0
        served[host] = max(known, others)
        return known > others ? 0 : others
    }

    /// Records that the host serves this many transfers at the same time.
    public mutating func onServed(by host: String, count: Int) {
        guard let known = served[host] else { return }
        served[host] = max(known, count)
    }

    /// Removes a host of which nothing runs.
    public mutating func forget(_ host: String) { served[host] = nil }
}
