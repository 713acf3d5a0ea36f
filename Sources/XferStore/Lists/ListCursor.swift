import XferModel

/// Where a list goes on: after a task, in one order, under one filter. Clients see a word they cannot read anything into
/// but can only give back.
struct ListCursor {
    let last: TaskID
    private let binding: UInt64

    init(last: TaskID, _ filter: TaskQuery, ascending: Bool) {
        self.last = last
        binding = Self.binding(filter, ascending)
    }

    /// - Throws: `invalidCursor` when the text is not of this filter and order.
    init(_ text: String, _ filter: TaskQuery, ascending: Bool) throws(StoreError) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let last = Int64(parts[0], radix: 36), let binding = UInt64(parts[1], radix: 36),
            last > 0, binding == Self.binding(filter, ascending)
        else { throw .invalidCursor }
        self.last = TaskID(last)
        self.binding = binding
    }

    var text: String { String(last.rawValue, radix: 36) + "-" + String(binding, radix: 36) }

    /// FNV-1a (64 bits): the same in every process, unlike `Hasher`.
    private static func binding(_ filter: TaskQuery, _ ascending: Bool) -> UInt64 {
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        let words = [ascending ? "asc" : "desc"] + filter.restrictions.flatMap { [$0.dimension.rawValue, $0.list] }
        for word in words {
            for byte in word.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
            hash = hash &* 0x100_0000_01B3
        }
        return hash
    }
}
