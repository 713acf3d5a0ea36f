import XferProtocol

/// The texts about hosts as the scheduler counts them: a host without a port is that of http and of https.
enum HostText {
    /// The name under which the scheduler counts a host.
    static func key(_ host: String) -> String {
        let host = host.lowercased()
        for suffix in [":80", ":443"] where host.hasSuffix(suffix) { return String(host.dropLast(suffix.count)) }
        return host
    }

    /// The host with the ports that it stands for.
    static func places(_ host: String) -> String {
        let afterBracket = host.lastIndex(of: "]").map { host.index(after: $0) } ?? host.startIndex
        let name = SafeText.sanitised(host)
        return host[afterBracket...].contains(":") ? name : "\(name):80 and :443"
    }

    /// A hint that other ports of the host are in use, if this one is not.
    static func hints(_ host: HostRecord, among known: [HostRecord]) -> [String] {
        let isUsed = known.contains { $0.host == host.host && ($0.active > 0 || $0.connections != nil) }
        let others = known.filter { $0.host.hasPrefix(host.host + ":") }.map { SafeText.sanitised($0.host) }
        guard !isUsed, let first = others.first else { return [] }
        return [
            "In use, with separate limits: \(others.joined(separator: ", ")); see "
                + SuggestedCommand.text("limit --host \(first)")
        ]
    }

    /// The highest number of connections of a host of its own.
    static func connections(_ count: Int) -> String { "at most \(count) connection\(count == 1 ? "" : "s")" }

    /// The highest number of requests within a minute.
    static func requests(_ count: Int) -> String { "at most \(count) request\(count == 1 ? "" : "s")" }
}
