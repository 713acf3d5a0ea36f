public import XferModel

/// The identifier of a download in aria2's protocol: 64 bits, written as 16 hexadecimal digits, never 0.
///
/// A task's GID follows from its id and a seed of the database, so nothing has to be stored. The mapping is a bijection
/// (the finalizer of SplitMix64), so the first digits differ between tasks as they do in aria2, which shows only six.
public struct Aria2GID: Hashable, Sendable, CustomStringConvertible {
    public let bits: UInt64

    /// A GID that a client chose: exactly 16 hexadecimal digits that are not all zero.
    public init?(_ text: String) {
        guard text.utf8.count == Self.digits, Self.isHex(text), let bits = UInt64(text, radix: 16), bits != 0 else {
            return nil
        }
        self.bits = bits
    }

    /// The GID of a task whose client chose none.
    public init(_ task: TaskID, seed: Aria2Seed) {
        bits = Self.mixed(UInt64(bitPattern: task.rawValue) ^ seed.bits)
    }

    /// The task whose GID this is, unless a client chose it.
    public func task(seed: Aria2Seed) -> TaskID? {
        let number = Self.unmixed(bits) ^ seed.bits
        return (1...Self.highestTask).contains(number) ? TaskID(Int64(clamping: number)) : nil
    }

    public var description: String { Self.hex(bits) }

    /// 16 hexadecimal digits.
    public static func hex(_ bits: UInt64) -> String {
        let text = String(bits, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.utf8.count)) + text
    }

    /// The number of digits of a GID; a shorter text is a prefix.
    public static let digits = 16

    /// True if `text` is a GID or the beginning of one.
    public static func isPrefix(_ text: String) -> Bool { (1...digits).contains(text.utf8.count) && isHex(text) }

    /// The end of tasks' ids on the wire, see `TaskID`.
    private static let highestTask: UInt64 = 1 << 53

    private static func isHex(_ text: String) -> Bool {
        text.utf8.allSatisfy { Character(UnicodeScalar($0)).isHexDigit }
    }

    private static func mixed(_ number: UInt64) -> UInt64 {
        var bits = number
        bits = (bits ^ bits >> 30) &* 0xbf58_476d_1ce4_e5b9
        bits = (bits ^ bits >> 27) &* 0x94d0_49bb_1331_11eb
        return bits ^ bits >> 31
    }

    /// The inverse of `mixed`: the factors are inverses modulo 2^64.
    private static func unmixed(_ number: UInt64) -> UInt64 {
        var bits = number
        bits = (bits ^ bits >> 31 ^ bits >> 62) &* 0x3196_42b2_d24d_8ec3
        bits = (bits ^ bits >> 27 ^ bits >> 54) &* 0x96de_1b17_3f11_9089
        return bits ^ bits >> 30 ^ bits >> 60
    }
}

/// A number that makes the GIDs of two databases differ: ids of tasks start from the beginning with a new database, and
/// clients keep GIDs.
public struct Aria2Seed: Hashable, Sendable {
    let bits: UInt64

    /// - Parameter storeID: the name of the database, as `daemon.status` answers it.
    public init(storeID: String) {
        // FNV-1a. The highest bit is set, so that no id of a task is equal to the seed and no GID is 0.
        var hash: UInt64 = 0xcbf2_9ce4_8422_2325
        for byte in storeID.utf8 { hash = (hash ^ UInt64(clamping: byte)) &* 0x0000_0100_0000_01b3 }
        bits = hash | 1 << 63
    }
}
