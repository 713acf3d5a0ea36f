import Testing
import XferCore
import XferModel

/// What is verified before a file is published, and under which digest bytes are taken that nothing else proves.
@Suite struct DigestDemandTests {
    private static let weak = checksum(.md5, 1)
    private static let strong = checksum(.sha256, 2)
    private static let otherWeak = checksum(.sha1, 3)
    private static let otherStrong = checksum(.sha512, 4)
    private static let announced = checksum(.sha256, 5)

    private static func checksum(_ algorithm: Checksum.Algorithm, _ byte: UInt8) -> Checksum? {
        Checksum(algorithm: algorithm, bytes: Array(repeating: byte, count: algorithm.byteCount))
    }

    private static func all(_ own: Checksum?, _ holding: Checksum?, _ server: Checksum? = announced) -> [Checksum?] {
        DigestDemand.all(own: own, binding: holding, announced: server).map(\.digest)
    }

    @Test func whatATaskDemandsIsVerifiedInPlaceOfWhatTheServerAnnounced() {
        #expect(Self.all(nil, nil, nil) == [])
        #expect(Self.all(nil, nil) == [Self.announced])
        #expect(Self.all(Self.weak, nil) == [Self.weak])
        #expect(Self.all(Self.strong, nil) == [Self.strong])
    }

    /// A task without a digest, or with one under which other bytes can be made, is held to the digest under which the
    /// bytes came. A strong one of its own proves the bytes.
    @Test func bytesThatOnlyADigestProvesAreVerifiedByEachTask() {
        for holding in [Self.otherWeak, Self.otherStrong] {
            #expect(Self.all(nil, holding) == [holding])
            #expect(Self.all(Self.weak, holding) == [Self.weak, holding])
            #expect(Self.all(Self.strong, holding) == [Self.strong])
        }
        #expect(Self.all(Self.weak, Self.weak) == [Self.weak])
        #expect(Self.all(Self.strong, Self.strong) == [Self.strong])
    }

    @Test func eachDemandNamesItsOrigin() {
        func origins(_ own: Checksum?, _ holding: Checksum?) -> [DigestDemand.Origin] {
            DigestDemand.all(own: own, binding: holding, announced: Self.announced).map(\.origin)
        }
        #expect(origins(nil, nil) == [.server])
        #expect(origins(Self.weak, Self.strong) == [.task, .sharingTask])
    }

    @Test func aBodyIsTakenWithoutAProvenEndOnlyIfEachTaskGaveADigest() {
        #expect(SharingRules.endDigest(own: Self.strong, ofMembers: [Self.weak, nil]) == nil)
        #expect(SharingRules.endDigest(own: Self.strong, ofMembers: []) == nil)
        #expect(SharingRules.endDigest(own: nil, ofMembers: [Self.weak, Self.strong]) == Self.strong)
        #expect(SharingRules.endDigest(own: nil, ofMembers: [Self.weak, Self.otherWeak]) == Self.weak)
        // The creator may have left.
        #expect(SharingRules.endDigest(own: Self.strong, ofMembers: [Self.weak]) == Self.weak)
        // With mirrors all have the same.
        #expect(SharingRules.endDigest(own: Self.weak, ofMembers: nil) == Self.weak)
        #expect(SharingRules.endDigest(own: nil, ofMembers: nil) == nil)
    }

    // MARK: The mark in the transfer's row

    private static func needsDigest(
        _ unprovenFrom: Int64?, _ segments: [Segment], total: Int64? = 1000
    ) -> Bool {
        SourceUse(unprovenFrom: unprovenFrom).needsDigest(for: ResumeData(totalLength: total, segments: segments))
    }

    /// One byte before the join, at it, and behind it.
    @Test(arguments: [Int64(99), 100, 101]) func bytesNeedADigestOnceOneBehindTheJoinIsKept(committed: Int64) {
        let kept = [Segment(start: 0, committed: committed)]
        #expect(Self.needsDigest(100, kept) == (committed > 100))
        #expect(!Self.needsDigest(nil, kept))
    }

    /// The end is in doubt only if the bytes count as whole.
    @Test func anUnprovenEndNeedsADigestOnceItIsTheEnd() {
        let kept = [Segment(start: 0, committed: 100)]
        #expect(Self.needsDigest(100, kept, total: 100))
        #expect(!Self.needsDigest(100, kept, total: nil))
        #expect(!Self.needsDigest(100, [Segment(start: 0, committed: 99)], total: 100))
        #expect(!Self.needsDigest(0, [], total: nil) && !Self.needsDigest(0, [], total: 0))
    }

    /// With gaps the number of kept bytes says nothing of their places.
    @Test func segmentsBehindGapsNeedADigest() {
        #expect(Self.needsDigest(500, [Segment(start: 0, committed: 10), Segment(start: 500, committed: 510)]))
        #expect(!Self.needsDigest(500, [Segment(start: 0, committed: 10), Segment(start: 500, committed: 500)]))
    }
}
