/// Some of a record's fields, by their positions: a bit each.
struct FieldSet: Hashable, Sendable {
    /// Most fields a record can have.
    static let capacity = UInt128.bitWidth

    private var bits: UInt128 = 0

    func contains(_ position: Int) -> Bool { bits & 1 << UInt128(clamping: position) != 0 }

    mutating func insert(_ position: Int) { bits |= 1 << UInt128(clamping: position) }

    /// The first that is not in `other`.
    func first(notIn other: FieldSet) -> Int? {
        let missing = bits & ~other.bits
        return missing == 0 ? nil : missing.trailingZeroBitCount
    }
}
