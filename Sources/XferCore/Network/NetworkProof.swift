public import XferModel

/// The proof that answers over the present network come from the requested servers.
///
/// A portal answers plain HTTP instead of every server: with a redirect, a page of its own, 400 or 404. A network is
/// proven once an answer over it cannot be a portal's. Before that, an answer says nothing about its URL.
public struct NetworkProof: Hashable, Sendable {
    private var changedAt: MonotonicInstant?
    private var isProven = false

    public init() {}

    /// Records that another network is in use.
    public mutating func onChange(at now: MonotonicInstant) {
        changedAt = now
        isProven = false
    }

    /// A response over a network in use since `begin`.
    public mutating func onResponse(_ head: ResponseHead, from url: HTTPURL, since begin: MonotonicInstant) {
        guard !isProven, changedAt.map({ $0 < begin }) ?? true else { return }
        isProven = Self.proves(head, from: url)
    }

    /// True if the response cannot be a portal's: its server has shown its certificate, or it is content other than a
    /// page. A proxy can make any response over plain HTTP itself.
    public static func proves(_ head: ResponseHead, from url: HTTPURL) -> Bool {
        // An answer of this machine has not used the network.
        if url.isOfThisMachine || head.isViaUnixSocket { return false }
        if url.scheme == .https { return true }
        guard !head.isViaProxy, (200...299).contains(head.status), let type = head.mediaType else { return false }
        return !["text/html", "application/xhtml+xml", "text/plain"].contains(type)
    }

    /// True if a response about this URL is its server's, in a run that began at `begin`.
    public func isAuthentic(_ url: HTTPURL, since begin: MonotonicInstant) -> Bool {
        if url.isOfThisMachine { return true }
        if let changedAt, changedAt >= begin { return false }
        return url.scheme == .https || isProven
    }
}

extension HTTPURL {
    /// True if the host is this machine by its name or address, so that no network is used (RFC 6761 §6.3, RFC 1122
    /// §3.2.1.3, RFC 4291 §2.5.3).
    fileprivate var isOfThisMachine: Bool {
        if host == "localhost" || host.hasSuffix(".localhost") || host == "[::1]" { return true }
        let parts = host.split(separator: ".", omittingEmptySubsequences: false)
        return parts.count == 4 && parts[0] == "127" && parts.allSatisfy { UInt8($0, radix: 10) != nil }
    }
}
