public import XferModel

/// Decides when another version of a file replaces the kept bytes.
///
/// The new version is first received in a second file. It replaces them when it has as many bytes, or is whole. If it
/// breaks off earlier, its few bytes are discarded, and the answer is remembered: the source may return to the old
/// version, as nodes do while a release is rolled out. If the same answer comes again, it replaces the bytes when its
/// body begins, so that a connection that breaks early cannot keep a new version away.
public enum ReplacementRules {
    /// The fewest kept bytes for which a second file is worth its cost.
    public static let leastKept: Int64 = 1 << 20

    /// True if the new version is received in addition to the kept bytes.
    ///
    /// - Parameters:
    ///   - doubt: the stored answer of the last attempt.
    ///   - sight: the answer with the new version.
    public static func isBeside(kept: Int64, doubt: AnswerDoubt?, sight: AnswerDoubt) -> Bool {
        kept >= leastKept && doubt?.signature != sight.signature
    }

    /// True if the new version, of which `received` bytes have arrived, replaces the kept bytes.
    public static func replaces(_ received: Int64, kept: Int64, isWhole: Bool) -> Bool { isWhole || received >= kept }
}
