/// The number of terminal columns that text takes, and cutting and padding by columns.
///
/// Follows Unicode's East Asian Width (UAX #11) for wide characters and counts combining marks as nothing, as terminals
/// do. Escape sequences are not understood: measure before styling.
enum TextWidth {
    static func columns(of text: some StringProtocol) -> Int {
        if text.utf8.allSatisfy({ $0 < 0x80 }) { return text.utf8.count }
        return text.reduce(0) { $0 + columns(of: $1) }
    }

    /// The text cut to at most `width` columns; an ellipsis replaces the cut part.
    /// - Parameter keepingEnd: cut in the middle, so that a file's extension stays visible.
    static func fitted(_ text: String, to width: Int, keepingEnd: Bool = false, ellipsis: String = "…") -> String {
        guard columns(of: text) > width else { return text }
        let mark = columns(of: ellipsis)
        guard width > mark else { return String(repeating: ".", count: max(0, width)) }
        let room = width - mark
        let tail = keepingEnd ? room / 2 : 0
        return prefix(of: text, columns: room - tail) + ellipsis + suffix(of: text, columns: tail)
    }

    static func padded(_ text: String, to width: Int, alignment: Alignment = .left) -> String {
        let gap = String(repeating: " ", count: max(0, width - columns(of: text)))
        return alignment == .left ? text + gap : gap + text
    }

    enum Alignment: Sendable { case left, right }

    private static func prefix(of text: String, columns limit: Int) -> String {
        var used = 0
        return String(
            text.prefix { character in
                used += columns(of: character)
                return used <= limit
            })
    }

    private static func suffix(of text: String, columns limit: Int) -> String {
        var used = 0
        let count = text.reversed().prefix { character in
            used += columns(of: character)
            return used <= limit
        }.count
        return String(text.suffix(count))
    }

    private static func columns(of character: Character) -> Int {
        if character.unicodeScalars.contains("\u{fe0f}") { return 2 }
        return character.unicodeScalars.reduce(0) { max($0, columns(of: $1)) }
    }

    private static func columns(of scalar: Unicode.Scalar) -> Int {
        if scalar.value < 0x300 { return 1 }
        switch scalar.properties.generalCategory {
        case .nonspacingMark, .enclosingMark, .format: return 0
        default: return isWide(scalar.value) ? 2 : 1
        }
    }

    /// The blocks whose characters are Wide or Fullwidth in EastAsianWidth.txt, coarsely.
    private static func isWide(_ value: UInt32) -> Bool {
        switch value {
        case 0x1100...0x115f, 0x231a...0x231b, 0x23e9...0x23ec, 0x25fd...0x25fe, 0x2614...0x2615, 0x2648...0x2653,
            0x26a1, 0x26bd...0x26be, 0x26c4...0x26c5, 0x26d4, 0x26ea, 0x26f2...0x26f3, 0x26f5, 0x26fa, 0x26fd, 0x2705,
            0x270a...0x270b, 0x2728, 0x274c, 0x274e, 0x2753...0x2755, 0x2757, 0x2795...0x2797, 0x27b0, 0x2b1b...0x2b1c,
            0x2b50, 0x2b55, 0x2e80...0x303e, 0x3041...0x33ff, 0x3400...0x4dbf, 0x4e00...0x9fff, 0xa000...0xa4cf,
            0xa960...0xa97f, 0xac00...0xd7a3, 0xf900...0xfaff, 0xfe10...0xfe19, 0xfe30...0xfe6f, 0xff00...0xff60,
            0xffe0...0xffe6, 0x1f004, 0x1f0cf, 0x1f18e, 0x1f191...0x1f19a, 0x1f200...0x1f320, 0x1f32d...0x1f335,
            0x1f337...0x1f37c, 0x1f37e...0x1f393, 0x1f3a0...0x1f3ca, 0x1f3cf...0x1f3d3, 0x1f3e0...0x1f3f0, 0x1f3f4,
            0x1f3f8...0x1f43e, 0x1f440, 0x1f442...0x1f4fc, 0x1f4ff...0x1f53d, 0x1f54b...0x1f54e, 0x1f550...0x1f567,
            0x1f57a, 0x1f595...0x1f596, 0x1f5a4, 0x1f5fb...0x1f64f, 0x1f680...0x1f6c5, 0x1f6cc, 0x1f6d0...0x1f6d2,
            0x1f6d5...0x1f6d7, 0x1f6dc...0x1f6df, 0x1f6eb...0x1f6ec, 0x1f6f4...0x1f6fc, 0x1f7e0...0x1f7eb,
            0x1f90c...0x1f93a, 0x1f93c...0x1f945, 0x1f947...0x1f9ff, 0x1fa70...0x1faff, 0x20000...0x3fffd:
            true
        default: false
        }
    }
}
