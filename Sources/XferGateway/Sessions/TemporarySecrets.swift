import NIOConcurrencyHelpers
import XferModel
import XferSystem

/// Secrets that represent a token for a limited time: those of browser sessions, and of downloads.
///
/// They are in memory only, so a restart ends them.
final class TemporarySecrets<Value: Hashable & Sendable>: Sendable {
    private let entries: NIOLockedValueBox<SecretEntries<Value>>

    init(lifetime: Duration) { entries = NIOLockedValueBox(SecretEntries(lifetime: lifetime)) }

    /// Makes a secret.
    func issue(_ value: Value, tokenID: Int64) -> String {
        let text = RandomText.secret()
        let now = Clocks.monotonic()
        entries.withLockedValue { $0.insert(text, value, tokenID: tokenID, now: now) }
        return text
    }

    /// The token that the secret represents; nil if the secret is unknown, has expired, or belongs to another value.
    func tokenID(of text: String, _ value: Value) -> Int64? {
        let now = Clocks.monotonic()
        return entries.withLockedValue { $0.tokenID(of: text, value, now: now) }
    }

    /// Returns the same as `tokenID`, and invalidates the secret.
    func redeem(_ text: String, _ value: Value) -> Int64? {
        let now = Clocks.monotonic()
        return entries.withLockedValue { entries in
            guard let id = entries.tokenID(of: text, value, now: now) else { return nil }
            entries.remove(text)
            return id
        }
    }

    func remove(_ text: String) { entries.withLockedValue { $0.remove(text) } }
}

/// The valid temporary secrets. It is a value: the caller provides the time.
struct SecretEntries<Value: Hashable & Sendable>: Sendable {
    private struct Entry: Sendable {
        var value: Value
        var tokenID: Int64
        var end: MonotonicInstant
    }

    let lifetime: Duration
    private var entries: [String: Entry] = [:]

    /// The highest number of valid secrets of a token. If there are more, the oldest are removed.
    static var maxPerToken: Int { 100 }

    init(lifetime: Duration) { self.lifetime = lifetime }

    var count: Int { entries.count }

    mutating func insert(_ text: String, _ value: Value, tokenID: Int64, now: MonotonicInstant) {
        entries = entries.filter { $0.value.end > now }
        let others = entries.filter { $0.value.tokenID == tokenID }.sorted { $0.value.end < $1.value.end }
        for (old, _) in others.prefix(max(0, others.count - Self.maxPerToken + 1)) { entries[old] = nil }
        entries[text] = Entry(value: value, tokenID: tokenID, end: now.advanced(by: lifetime))
    }

    func tokenID(of text: String, _ value: Value, now: MonotonicInstant) -> Int64? {
        guard let entry = entries[text], entry.end > now, entry.value == value else { return nil }
        return entry.tokenID
    }

    mutating func remove(_ text: String) { entries[text] = nil }
}
