/// A conversion to an integer type as a line of code has it, `Int32(count)`: it traps when the number does not fit.
struct IntegerConversion: Hashable {
    /// `Int32(count)`; what the line lacks of it is left out.
    let code: String

    /// The conversions of a line that may trap; `next` is the line after it, where a conversion's argument may stand.
    ///
    /// Left out is what cannot trap by its form: labels (`clamping:`, `exactly:`, …), `radix:` (text, which gives nil),
    /// literals and constants of C, `.count`, `MemoryLayout`, and raw values widened to 64 bits.
    static func all(in line: Substring, next: Substring = "") -> [IntegerConversion] {
        guard !line.drop(while: { $0 == " " }).hasPrefix("//") else { return [] }
        var found: [IntegerConversion] = []
        var rest = line
        while let open = rest.firstIndex(of: "(") {
            let type = line[..<open].reversedPrefix { $0.isLetter || $0.isNumber || $0 == "_" }
            let before = line[..<type.startIndex].last
            rest = line[line.index(after: open)...]
            guard types.contains(String(type)), before != ".", before != "#" else { continue }
            let argument = argument(of: rest)
            let shown = argument.isEmpty && rest.isEmpty ? next.drop { $0 == " " } : argument
            if mayTrap(shown, type) { found.append(IntegerConversion(code: "\(type)(\(argument))")) }
        }
        return found
    }

    private static let types: Set<String> = [
        "Int", "Int8", "Int16", "Int32", "Int64", "Int128", "UInt", "UInt8", "UInt16", "UInt32", "UInt64", "UInt128",
        "CInt", "CLong", "off_t", "time_t", "size_t", "socklen_t", "mode_t", "nfds_t", "uid_t", "gid_t", "clockid_t",
        "sa_family_t", "curl_off_t", "curl_socket_t",
    ]

    /// Up to the parenthesis that closes it, or the line's end.
    private static func argument(of rest: Substring) -> Substring {
        var depth = 1
        let end = rest.firstIndex { character in
            depth += character == "(" ? 1 : character == ")" ? -1 : 0
            return depth == 0
        }
        return rest[..<(end ?? rest.endIndex)]
    }

    private static func mayTrap(_ argument: Substring, _ type: Substring) -> Bool {
        if argument.isEmpty || argument.hasPrefix("MemoryLayout") || argument.contains("radix:") { return false }
        let label = argument.prefix { $0.isLetter || $0.isNumber }
        if !label.isEmpty, argument[label.endIndex...].hasPrefix(": ") { return false }
        if isConstant(argument) { return false }
        let isPath = !argument.contains { "()+*-".contains($0) }
        if isPath, argument.hasSuffix(".count") { return false }
        return !(argument.hasSuffix(".rawValue") && ["Int", "Int64", "UInt64"].contains(type))
    }

    /// `4096`, `0x2421`, `O_RDONLY | SOCK_CLOEXEC.rawValue`, `UInt32.max`, `xfer_auth_basic`.
    private static func isConstant(_ argument: Substring) -> Bool {
        if argument.first?.isNumber == true { return argument.allSatisfy { $0.isHexDigit || "xo_".contains($0) } }
        if argument.hasPrefix("xfer_") { return !argument.contains("(") }
        return argument.split(separator: " | ", omittingEmptySubsequences: false).allSatisfy { word in
            let name = word.hasSuffix(".rawValue") ? word.dropLast(9) : word
            if ["UInt32.max", "Int64.max", "Int.max"].contains(name) { return true }
            return name.contains { $0.isLetter } && name.allSatisfy { $0.isUppercase || $0.isNumber || $0 == "_" }
        }
    }
}

extension Substring {
    /// The longest end all of whose characters are so.
    fileprivate func reversedPrefix(while isWanted: (Character) -> Bool) -> Substring {
        guard let last = lastIndex(where: { !isWanted($0) }) else { return self }
        return self[index(after: last)...]
    }
}
