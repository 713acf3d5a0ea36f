/// Header fields about one connection, which no other connection repeats (RFC 9110 §7.6.1). Browsers send them, and
/// programs that copy a browser's request copy them, too.
public enum HopByHopFields {
    private static let names: Set<String> = [
        "connection", "proxy-connection", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    public static func contains(_ name: String) -> Bool { names.contains(name.lowercased()) }
}
