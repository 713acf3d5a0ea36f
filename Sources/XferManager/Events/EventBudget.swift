import NIOConcurrencyHelpers

/// Limits the bytes that wait for event readers: one budget per connection, within one per user.
public final class EventBudget: Sendable {
    private let limit: Int
    private let whole: EventBudget?
    private let taken = NIOLockedValueBox(0)

    /// - Parameters:
    ///   - limit: bytes.
    ///   - whole: the budget this one is a part of.
    public init(limit: Int, within whole: EventBudget? = nil) {
        self.limit = limit
        self.whole = whole
    }

    /// The bytes that wait now.
    public var waiting: Int { taken.withLockedValue(\.self) }

    /// Reserves bytes; returns false and reserves none if the budget does not have them.
    func reserve(_ bytes: Int) -> Bool {
        let isThere = taken.withLockedValue { taken in
            guard taken <= limit - bytes else { return false }
            taken += bytes
            return true
        }
        guard isThere else { return false }
        guard whole?.reserve(bytes) ?? true else {
            taken.withLockedValue { $0 -= bytes }
            return false
        }
        return true
    }

    func give(_ bytes: Int) {
        guard bytes > 0 else { return }
        taken.withLockedValue { $0 -= bytes }
        whole?.give(bytes)
    }
}
