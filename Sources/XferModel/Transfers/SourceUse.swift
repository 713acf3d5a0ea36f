/// The sources (`TaskSpecification.sources`) of a transfer's kept bytes, and those that are no longer trusted. A task
/// with one source has the defaults.
public struct SourceUse: Hashable, Sendable {
    /// Position of the source whose version the transfer's `ResumeData` describes.
    public var described: Int
    /// The sources that sent kept bytes.
    public var senders: SourceSet
    /// First offset from which only a digest can show that the bytes are of the same version as those before; nil if
    /// there is none. Until the digest is verified, no client gets those bytes. It is the length of the body if all
    /// bytes are of one version, but only a digest can show that they are complete.
    public var unprovenFrom: Int64?
    /// Sources that sent part of bytes whose digest was wrong; at least one of them sent wrong bytes.
    public var suspects: SourceSet
    /// Sources that sent all of the bytes whose digest was wrong.
    public var excluded: SourceSet

    public init(
        described: Int = 0, senders: SourceSet = [0], unprovenFrom: Int64? = nil, suspects: SourceSet = [],
        excluded: SourceSet = []
    ) {
        self.described = described
        self.senders = senders
        self.unprovenFrom = unprovenFrom
        self.suspects = suspects
        self.excluded = excluded
    }

    /// True if only a digest can show that the kept bytes are correct. `unprovenFrom` may be ahead of them, since it is
    /// committed before the bytes after it arrive.
    public func needsDigest(for kept: ResumeData) -> Bool {
        guard let unprovenFrom else { return false }
        let committed = kept.committedByteCount
        let isPrefix = kept.segments.allSatisfy { $0.start == 0 || $0.committed == $0.start }
        guard isPrefix else { return true }
        return unprovenFrom < committed || unprovenFrom == committed && kept.totalLength == committed && committed > 0
    }

    /// Records that only a digest can show that the bytes from this offset on belong to those before.
    public mutating func onUnprovenJoin(at offset: Int64) { unprovenFrom = min(unprovenFrom ?? .max, max(0, offset)) }

    /// The value after the bytes were dropped.
    public var withoutBytes: SourceUse { SourceUse(suspects: suspects, excluded: excluded) }
}

/// Positions of a task's sources, 0 … `TaskSpecification.maxSources` − 1.
public struct SourceSet: Hashable, Sendable, ExpressibleByArrayLiteral {
    /// The stored form: one bit for each position.
    public private(set) var bits: UInt16

    public init(bits: UInt16) { self.bits = bits }

    public init(arrayLiteral positions: Int...) {
        bits = 0
        for position in positions { insert(position) }
    }

    public var count: Int { bits.nonzeroBitCount }
    public var isEmpty: Bool { bits == 0 }

    public func contains(_ position: Int) -> Bool { bits & Self.bit(position) != 0 }
    public mutating func insert(_ position: Int) { bits |= Self.bit(position) }
    public mutating func remove(_ position: Int) { bits &= ~Self.bit(position) }
    public mutating func formUnion(_ other: SourceSet) { bits |= other.bits }

    /// Returns the bit of a position; none beyond the last position.
    private static func bit(_ position: Int) -> UInt16 { 1 << UInt16(clamping: position) }
}
