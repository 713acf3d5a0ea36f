public import XferModel

/// The servers that sent a transfer's bytes. Each server is listed once, even if it answered many requests.
///
/// A transfer that is often interrupted, for example because a redirector leads to many hosts, may have bytes of any
/// number of servers. The first `maxCount` are listed. All others share one entry, which records the trust settings
/// under which they were accepted: they stay trusted until those settings change.
public struct SourceLedger: Hashable, Sendable {
    /// The highest number of servers that are listed individually.
    public static let maxCount = 64

    /// The servers in the order of their first requests, then the entry for those that are not listed.
    public private(set) var entries: [SourceEvidence]

    public init(_ entries: [SourceEvidence] = []) { self.entries = entries }

    public var isEmpty: Bool { entries.isEmpty }

    /// True if the next server may have to share the last entry, so that `insert` needs the settings.
    public var isFull: Bool { entries.count >= Self.maxCount }

    /// Adds a server that was accepted now. The judgement of a server that is listed is replaced.
    ///
    /// - Parameter settings: identifies the trust settings in force, not empty; only read if `isFull`.
    public mutating func insert(_ source: SourceEvidence, under settings: String) {
        if let index = entries.firstIndex(where: { $0.isSameServer(as: source) && $0.settingsOfUnlisted == nil }) {
            entries[index].judgement = source.judgement
        } else if let known = entries.last?.settingsOfUnlisted {
            // Accepted under different settings: no settings are known to trust all of them.
            if known != settings { entries[entries.count - 1] = .unlisted(acceptedUnder: "") }
        } else if isFull {
            entries.append(.unlisted(acceptedUnder: settings))
        } else {
            entries.append(source)
        }
    }

    /// Adds the servers of another ledger.
    public mutating func formUnion(_ other: SourceLedger, under settings: String) {
        for source in other.entries {
            insert(source, under: source.settingsOfUnlisted ?? settings)
        }
    }

    /// Replaces the judgement of a listed server.
    public mutating func setJudgement(_ judgement: String, at index: Int) { entries[index].judgement = judgement }

    /// The reason why the servers that are not listed are no longer trusted; nil if they are, or if all are listed.
    ///
    /// - Parameter settings: identifies the trust settings in force.
    public func refusalOfUnlisted(under settings: String) -> String? {
        guard let known = entries.last?.settingsOfUnlisted, known != settings || settings.isEmpty else { return nil }
        return "more than \(Self.maxCount) servers sent the bytes, and the trust policies have changed since"
    }
}
