public import XferModel

/// When to warn that a policy's pins will no longer be enforced: 30, 7 and 1 days before, and at expiry.
public enum ExpiryWarning: Int, Hashable, Sendable, Comparable, CaseIterable {
    case month = 30
    case week = 7
    case day = 1
    case expired = 0

    /// In order of urgency.
    public static func < (left: ExpiryWarning, right: ExpiryWarning) -> Bool { left.rawValue > right.rawValue }

    /// When this warning is due.
    public func instant(before expiry: Timestamp) -> Timestamp {
        expiry.advanced(by: .seconds(-86_400 * Int64(clamping: rawValue)))
    }

    /// The most urgent warning that is due and has not been given. A service that did not run for weeks gives one
    /// warning, not three.
    /// - Parameter given: the last one that was given for this version of the policy.
    public static func due(for expiry: Timestamp, after given: ExpiryWarning?, at now: Timestamp) -> ExpiryWarning? {
        guard let due = allCases.filter({ $0.instant(before: expiry) <= now }).max() else { return nil }
        return given.map { due > $0 } ?? true ? due : nil
    }

    /// When the next warning is due; nil after the last one.
    public static func next(for expiry: Timestamp, at now: Timestamp) -> Timestamp? {
        allCases.map { $0.instant(before: expiry) }.filter { $0 > now }.min()
    }
}
