import Testing
import XferCore
import XferModel

struct SharingRulesTests {
    private static let identity = FileIdentity(device: 1, inode: 2)

    private static func key(_ change: (inout TaskSpecification) -> Void = { _ in }) -> [UInt8]? {
        var specification = TaskSpecification(
            owner: Owner(uid: 1),
            request: TransferRequest(url: HTTPURL(scheme: .https, host: "a.example", port: 443, target: "/")),
            destination: Destination(directory: "/srv"))
        change(&specification)
        // The digest handles collisions, not the rules.
        return SharingRules.key(of: specification, isSharedBetweenOwners: false) { $0 }
    }

    @Test func optionsOfOneTaskAreNotPartOfTheSharingKey() {
        #expect(Self.key() != nil)
        #expect(
            Self.key()
                == Self.key {
                    $0.destination = Destination(directory: "/elsewhere", name: "b", onConflict: .fail)
                    $0.checksum = try? Checksum(parsing: "md5:00112233445566778899aabbccddeeff")
                    $0.retry = RetryLimits(maxRetries: 1)
                    $0.priority = .high
                    $0.maxReceiveRate = 5
                    $0.request.acceptedTypes = ["image/png"]
                })
    }

    /// A page of the index then has the tasks of a list that were added together.
    @Test(arguments: [
        ("/", ""), ("/b/disk-01.iso", "disk-01.iso"), ("/b/a-rather-long-name.iso", "a-rather-long-na"),
        ("/b/c?d=/e", "c?d=/e"), ("/a/", ""), ("", ""),
    ])
    func aKeyBeginsWithTheFilesName(target: String, name: String) {
        let key = Self.key {
            $0.request.url = HTTPURL(scheme: .http, host: "a", port: 80, target: target)
        }
        var expected = [UInt8](name.utf8)
        while expected.count < 16 { expected.append(0) }
        #expect(key?.prefix(16) == expected[...])
    }

    @Test func aTaskThatMayNotShareHasNoSharingKey() {
        #expect(Self.key { $0.coalesces = false } == nil)
        #expect(Self.key { $0.kind = .upload } == nil)
        #expect(Self.key { $0.destination.onConflict = .update } == nil)
        #expect(Self.key { $0.request.method = .post } == nil)
    }

    @Test func bytesThatMayBeSplicedAreNotForOthers() {
        #expect(Self.key() != Self.key { $0.resumesUnsafely = true })
        #expect(Self.key() != Self.key { $0.kind = .data } && Self.key { $0.kind = .data } != nil)
        #expect(Self.key() != Self.key { $0.owner = Owner(uid: 2) })
    }

    /// A digest may be what holds the bytes together.
    @Test func tasksWithMirrorsShareOnlyUnderTheSameDigest() {
        let mirror = HTTPURL(scheme: .https, host: "b.example", port: 443, target: "/")
        func key(_ checksum: String?) -> [UInt8]? {
            Self.key {
                $0.mirrors = [mirror]
                $0.checksum = checksum.flatMap { try? Checksum(parsing: $0) }
            }
        }
        let digests = ["md5:00112233445566778899aabbccddeeff", "md5:00112233445566778899aabbccddeefe", nil]
        #expect(Set(digests.map(key)).count == 3 && !digests.map(key).contains(nil))
        #expect(key(nil) != Self.key())
    }

    private static let place = PartialLocation(directory: "/srv", identity: identity)

    private static func transfer(committed: Int64, of total: Int64?, etag: String? = "\"a\"") -> Transfer {
        var data = ResumeData(validators: Validators(etag: etag), totalLength: total)
        data.finalURL = HTTPURL(scheme: .https, host: "a.example", port: 443, target: "/")
        data.segments = [Segment(start: 0, committed: committed)]
        return Transfer(
            id: TransferID(1), tag: "t", partial: place,
            resumeData: data, createdAt: Timestamp(rawValue: 0))
    }

    @Test func keptBytesAreContinuedIfTheServerCanProveThemRight() {
        #expect(SharingRules.canContinue(Self.transfer(committed: 5, of: 10), in: Self.place))
        #expect(SharingRules.canContinue(Self.transfer(committed: 5, of: nil), in: Self.place))
        // All bytes are kept: no request would let the server prove them right.
        #expect(!SharingRules.canContinue(Self.transfer(committed: 10, of: 10), in: Self.place))
        #expect(!SharingRules.canContinue(Self.transfer(committed: 5, of: 10, etag: nil), in: Self.place))
        let other = PartialLocation(directory: "/srv", identity: FileIdentity(device: 1, inode: 3))
        #expect(!SharingRules.canContinue(Self.transfer(committed: 5, of: 10), in: other))
        // Where the identity is not known yet, the path decides.
        for (directory, isThere) in [("/srv", true), ("/srv2", false)] {
            let unknown = PartialLocation(directory: directory, identity: .unknown)
            #expect(SharingRules.canContinue(Self.transfer(committed: 5, of: 10), in: unknown) == isThere)
        }
        var publishing = Self.transfer(committed: 5, of: 10)
        publishing.publishIntent = PublishIntent(
            finalName: "a", part: FileFacts(identity: Self.identity, length: 10, modifiedAt: 0, changedAt: 0))
        #expect(!SharingRules.canContinue(publishing, in: Self.place))
    }

    @Test func aWholeTransferIsNotJoined() {
        #expect(SharingRules.mayBeJoined(Self.transfer(committed: 9, of: 10)))
        #expect(SharingRules.mayBeJoined(Self.transfer(committed: 9, of: nil)))
        #expect(!SharingRules.mayBeJoined(Self.transfer(committed: 10, of: 10)))
    }

    @Test func theHighestLimitOfTheMembersApplies() {
        #expect(SharingRules.highestRate([1, 7, 3]) == 7)
        #expect(SharingRules.highestRate([1, 0, 3]) == 0)
        #expect(SharingRules.highestRate([]) == 0)
    }

    @Test func aDigestIsKnownOnlyIfEveryMemberGaveOne() {
        let digest = Checksum(algorithm: .sha256, bytes: Array(repeating: 1, count: 32))
        #expect(SharingRules.isDigestKnown(own: nil, ofMembers: [digest, digest]))
        #expect(!SharingRules.isDigestKnown(own: digest, ofMembers: [digest, nil]))
        #expect(!SharingRules.isDigestKnown(own: digest, ofMembers: []))
        #expect(SharingRules.isDigestKnown(own: digest, ofMembers: nil), "with mirrors all have the same")
        #expect(!SharingRules.isDigestKnown(own: nil, ofMembers: nil))
    }

    @Test func theDemandedDigestIsTheFirstStrongOneOfAMemberOrTheCreator() {
        let weak = Checksum(algorithm: .md5, bytes: Array(repeating: 1, count: 16))
        let strong = Checksum(algorithm: .sha256, bytes: Array(repeating: 2, count: 32))
        let other = Checksum(algorithm: .sha256, bytes: Array(repeating: 3, count: 32))
        #expect(SharingRules.demandedDigest(own: other, ofMembers: [nil, weak, strong]) == strong)
        #expect(SharingRules.demandedDigest(own: other, ofMembers: [weak]) == other)
        #expect(SharingRules.demandedDigest(own: nil, ofMembers: [weak, nil]) == nil)
        #expect(SharingRules.demandedDigest(own: weak, ofMembers: nil) == weak)
    }

    @Test func membersHaveACommonValueOnlyIfAllAgree() {
        #expect(SharingRules.common([["a"], ["a"]]) == ["a"])
        #expect(SharingRules.common([["a"], ["b"]]) == nil)
        #expect(SharingRules.common([[String]]()) == nil)
    }
}
