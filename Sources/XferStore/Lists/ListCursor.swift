/// The position after a row of a list. `words` identify the list, its order and its filter; a cursor is valid only with
/// the same texts. For clients the text is opaque.
struct ListCursor {
    /// The row's id.
    let last: Int64
    private let binding: UInt64

    init(last: Int64, of words: [String]) { self.init(last: last, binding: Self.binding(words)) }

    /// - Parameter binding: that of the filter's text.
    init(last: Int64, binding: UInt64) {
        self.last = last
        self.binding = binding
    }

    /// - Throws: `invalidCursor` if the text is malformed or was made with other `words`.
    init(_ text: String, of words: [String]) throws(StoreError) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let last = Int64(parts[0], radix: 36), let binding = UInt64(parts[1], radix: 36),
            last > 0, binding == Self.binding(words)
        else { throw .invalidCursor }
        self.last = last
        self.binding = binding
    }

    var text: String { String(last, radix: 36) + "-" + String(binding, radix: 36) }

    /// Computes FNV-1a (64 bits): the same in every process, unlike `Hasher`.
    static func binding(_ words: [String]) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for word in words {
            for byte in word.utf8 { hash = (hash ^ UInt64(clamping: byte)) &* 0x100_0000_01B3 }
            hash = hash &* 0x100_0000_01B3
        }
        return hash
    }
}
