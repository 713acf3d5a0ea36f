public import XferModel

/// Records which addresses of a name did not answer, so that the next attempt prefers another one.
///
/// It only changes the order: an avoided address is used when no other one is left. An address is avoided for `rest`
/// after its failure, and for as long as another address of the name works, but no longer than `longest`; then it is
/// retried. An answer from it ends that at once.
public struct AddressMemory: Sendable {
    /// The time for which an address is avoided after its failure, or after another address of the name answered.
    public static let rest = Duration.seconds(600)
    /// The longest time for which an address is avoided.
    public static let longest = Duration.seconds(3600)
    /// The highest number of names that are recorded; beyond it the one that was changed first is removed, so that its
    /// addresses are used in the resolver's order again.
    public static let capacity = 256
    /// The highest number of failed addresses of a name; beyond it the one that failed first is removed.
    public static let addressCapacity = 16

    private struct Failure {
        var time: MonotonicInstant
        /// The number that orders failures of the same instant.
        var number: UInt64
    }

    private struct Name {
        var failures: [IPAddress: Failure] = [:]
        /// The address that answered last, since an address of the name has failed.
        var working: (address: IPAddress, time: MonotonicInstant)?
        /// The order of the names by their last change.
        var number: UInt64
    }

    private var names: [String: Name] = [:]
    private var count: UInt64 = 0

    public init() {}

    public var isEmpty: Bool { names.isEmpty }

    /// The addresses that should be left out while the name has others.
    public func avoided(of name: String, now: MonotonicInstant) -> Set<IPAddress> {
        guard let name = names[name] else { return [] }
        return Set(name.failures.filter { Self.isAvoided($0.key, $0.value, of: name, now) }.keys)
    }

    /// The avoided address to use when the name has no other: the one whose failure is the oldest. With several
    /// failing addresses each has its turn.
    public func lastResort(of name: String, now: MonotonicInstant) -> IPAddress? {
        names[name]?.failures.min { $0.value.number < $1.value.number }?.key
    }

    /// True if another address of the name is known to work, so that a kept connection to this avoided one is left.
    public func shouldLeave(_ address: IPAddress, of name: String, now: MonotonicInstant) -> Bool {
        guard let known = names[name], let failure = known.failures[address], let working = known.working else {
            return false
        }
        return working.address != address && Self.isAvoided(address, failure, of: known, now)
            && known.failures[working.address] == nil
    }

    /// Attempts got nothing from these addresses.
    public mutating func recordFailure(of addresses: [IPAddress], of name: String, now: MonotonicInstant) {
        guard !addresses.isEmpty else { return }
        makeRoom(for: name)
        count += 1
        var known = names[name] ?? Name(number: count)
        known.number = count
        for address in addresses {
            count += 1
            known.failures[address] = Failure(time: now, number: count)
            if known.working?.address == address { known.working = nil }
        }
        while known.failures.count > Self.addressCapacity,
            let first = known.failures.min(by: { $0.value.number < $1.value.number })?.key
        {
            known.failures[first] = nil
        }
        names[name] = known
    }

    /// Records that the address has answered. Nothing is stored for a name none of whose addresses has failed.
    public mutating func recordAnswer(of address: IPAddress, of name: String, now: MonotonicInstant) {
        guard var known = names[name] else { return }
        known.failures[address] = nil
        known.failures = known.failures.filter { Self.isAvoided($0.key, $0.value, of: known, now) }
        known.working = (address, now)
        names[name] = known.failures.isEmpty ? nil : known
    }

    /// Removes all records, since the network has changed.
    public mutating func removeAll() { names = [:] }

    private static func isAvoided(
        _ address: IPAddress, _ failure: Failure, of name: Name, _ now: MonotonicInstant
    ) -> Bool {
        let other = name.working.flatMap { $0.address == address ? nil : $0.time }
        let since = max(failure.time, other ?? failure.time)
        return now < since.advanced(by: rest) && now < failure.time.advanced(by: longest)
    }

    private mutating func makeRoom(for name: String) {
        guard names[name] == nil, names.count >= Self.capacity,
            let oldest = names.min(by: { $0.value.number < $1.value.number })?.key
        else { return }
        names[oldest] = nil
    }
}
