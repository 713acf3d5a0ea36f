/// A pattern for a network interface's name. `*` matches any characters and `?` matches one: `wwan*`, `usb?`.
public struct InterfacePattern: Hashable, Sendable, CustomStringConvertible {
    public let text: String

    /// Parses a pattern. Returns nil unless it can match a name: 1 to 15 characters besides stars (netdevice(7),
    /// IFNAMSIZ), without spaces and slashes.
    public init?(_ text: String) {
        let bytes = text.utf8
        let isPlain = bytes.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: "/") }
        guard !text.isEmpty, bytes.count <= 32, isPlain, bytes.count(where: { $0 != UInt8(ascii: "*") }) <= 15 else {
            return nil
        }
        self.text = text
    }

    public var description: String { text }

    public func matches(_ name: String) -> Bool {
        let pattern = Array(text.utf8)
        let name = Array(name.utf8)
        // Where to continue if the characters after a star do not match: the star takes one character more.
        var star: (pattern: Int, name: Int)?
        var (inPattern, inName) = (0, 0)
        while inName < name.count {
            if inPattern < pattern.count, pattern[inPattern] == UInt8(ascii: "*") {
                star = (inPattern + 1, inName)
                inPattern += 1
            } else if inPattern < pattern.count,
                pattern[inPattern] == name[inName] || pattern[inPattern] == UInt8(ascii: "?")
            {
                inPattern += 1
                inName += 1
            } else if let last = star {
                star = (last.pattern, last.name + 1)
                (inPattern, inName) = (last.pattern, last.name + 1)
            } else {
                return false
            }
        }
        return pattern[inPattern...].allSatisfy { $0 == UInt8(ascii: "*") }
    }
}
