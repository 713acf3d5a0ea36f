/// How entity tags compare (RFC 9110 §8.8.3). Tags are kept and sent verbatim.
public enum EntityTag {
    /// Whether the text is a quoted tag without `W/`: only such a one may stand in `If-Range`.
    public static func isStrong(_ tag: String) -> Bool {
        tag.utf8.count >= 2 && tag.hasPrefix("\"") && tag.hasSuffix("\"")
    }

    /// Strong comparison (§8.8.3.2): both strong, and the same octet for octet.
    public static func matchStrongly(_ left: String?, _ right: String?) -> Bool {
        guard let left, let right else { return false }
        return isStrong(left) && left.utf8.elementsEqual(right.utf8)
    }

    /// Weak comparison: the same but for `W/`.
    public static func matchWeakly(_ left: String, _ right: String) -> Bool {
        opaque(left).utf8.elementsEqual(opaque(right).utf8)
    }

    private static func opaque(_ tag: String) -> Substring { tag.hasPrefix("W/") ? tag.dropFirst(2) : tag[...] }
}
