import Testing
import XferCore
import XferModel

/// Which source is asked next, and for what.
@Suite struct MirrorSelectorTests {
    private static let gone = TransferError(.httpStatus, "404", isRetriable: false, httpStatus: 404)
    private static let busy = TransferError(.httpStatus, "503", isRetriable: true, httpStatus: 503, retryAfter: 30)
    private static let lost = TransferError(.connectionLost, "the connection broke")

    private func ask(_ source: Int, _ mode: MirrorSelector.FetchMode = .own) -> MirrorSelector.Decision {
        .request(MirrorSelector.Choice(source: source, mode: mode))
    }

    private func next(
        _ book: MirrorSelector, hasBytes: Bool = false, _ proof: MirrorSelector.Proof = .none, isPatient: Bool = true
    ) -> MirrorSelector.Decision {
        book.next(hasBytes: hasBytes, proof: proof, isPatient: isPatient)
    }

    // MARK: Nothing kept

    @Test func sourcesAreAskedInOrderOfPreference() {
        var book = MirrorSelector(count: 3)
        #expect(next(book) == ask(0))
        let isGoneAside = book.onFailure(of: 0, Self.gone)
        #expect(isGoneAside)
        #expect(next(book) == ask(1))
        let isBusyAside = book.onFailure(of: 1, Self.busy)
        #expect(!isBusyAside)
        #expect(next(book) == ask(2))
    }

    @Test func aSingleSourceFailsWithItsOwnError() {
        for error in [Self.gone, Self.busy, Self.lost] {
            var book = MirrorSelector(count: 1)
            #expect(!book.hasMirrors)
            book.onFailure(of: 0, error)
            #expect(next(book) == .fail(error))
            #expect(next(book, hasBytes: true, .digest) == .fail(error))
        }
    }

    /// A source that may recover decides whether the task is retried.
    @Test func aTransientFailureOfAnyMirrorMakesTheTaskRetry() {
        var book = MirrorSelector(count: 3)
        book.onFailure(of: 0, Self.gone)
        book.onFailure(of: 1, Self.busy)
        book.onFailure(of: 2, TransferError(.dnsFailure, "unknown", retryAfter: 7))
        var expected = Self.busy
        expected.retryAfter = 7
        #expect(next(book) == .fail(expected))
    }

    /// The wait is no longer than the first of them asks for, and one that asks for none may be asked at once.
    @Test func theShortestRetryDelayOfTheMirrorsEndsTheWait() {
        var book = MirrorSelector(count: 2)
        book.onFailure(of: 0, Self.busy)
        book.onFailure(of: 1, Self.lost)
        var expected = Self.busy
        expected.retryAfter = nil
        #expect(next(book) == .fail(expected))
    }

    @Test func ifAllMirrorsFailForGoodTheMostPreferredErrorIsReported() {
        var book = MirrorSelector(count: 2)
        book.onFailure(of: 1, TransferError(.trustRejected, "not believed"))
        book.onFailure(of: 0, Self.gone)
        #expect(next(book) == .fail(Self.gone))
    }

    // MARK: Bytes are kept

    /// A selector over three sources whose kept bytes came from source 1.
    private var keeping: MirrorSelector { MirrorSelector(count: 3, use: SourceUse(described: 1, senders: [1])) }

    @Test func withoutProofKeptBytesAreContinuedOnlyByTheirSource() {
        var book = keeping
        #expect(next(book, hasBytes: true) == ask(1))
        book.onFailure(of: 1, Self.lost)
        #expect(next(book, hasBytes: true) == .fail(Self.lost))
        #expect(next(book, hasBytes: true, isPatient: false) == ask(0, .fromStart))
        book.onFailure(of: 0, Self.busy)
        #expect(next(book, hasBytes: true, isPatient: false) == ask(2, .fromStart))
    }

    @Test func aPermanentFailureOfTheSourceMovesTheDownloadToAnotherMirrorAtOnce() {
        var book = keeping
        book.onFailure(of: 1, Self.gone)
        #expect(next(book, hasBytes: true) == ask(0, .fromStart))
    }

    @Test func underADigestEveryMirrorMayContinueInOrderOfPreference() {
        var book = keeping
        #expect(next(book, hasBytes: true, .digest) == ask(0, .underDigest))
        book.onFailure(of: 0, Self.busy)
        #expect(next(book, hasBytes: true, .digest) == ask(1))
        book.onFailure(of: 1, Self.lost)
        #expect(next(book, hasBytes: true, .digest) == ask(2, .underDigest))
        book.onFailure(of: 2, Self.gone)
        guard case .fail(let error) = next(book, hasBytes: true, .digest) else {
            Issue.record("a source is asked")
            return
        }
        #expect(error.reason == .httpStatus && error.isRetriable && error.retryAfter == nil)
    }

    @Test func withATagTheSourceOfTheBytesIsAskedFirst() {
        var book = keeping
        #expect(next(book, hasBytes: true, .tag) == ask(1))
        book.onFailure(of: 1, Self.lost)
        #expect(next(book, hasBytes: true, .tag) == ask(0, .sameTag))
        book.onRefusal(of: 0)
        #expect(next(book, hasBytes: true, .tag) == ask(2, .sameTag))
        book.onRefusal(of: 2)
        #expect(next(book, hasBytes: true, .tag) == .fail(Self.lost))
        #expect(next(book, hasBytes: true, .tag, isPatient: false) == ask(0, .fromStart))
    }

    /// A source that refused to continue others' bytes is eligible again when these are discarded.
    @Test func aMirrorThatRefusedToContinueIsAskedForTheWhole() {
        var book = keeping
        book.onRefusal(of: 0)
        book.onFailure(of: 1, Self.gone)
        book.onFailure(of: 2, Self.gone)
        #expect(next(book, hasBytes: true, .digest) == ask(0, .fromStart))
        book.onBody(of: MirrorSelector.Choice(source: 0, mode: .fromStart))
        #expect(book.use == SourceUse(described: 0, senders: [0]))
        #expect(next(book, hasBytes: true, .digest) == ask(0))
    }

    @Test func theSendersOfTheKeptBytesAreRecorded() {
        var book = MirrorSelector(count: 3)
        book.onBody(of: MirrorSelector.Choice(source: 0, mode: .own))
        #expect(book.use == SourceUse())
        book.onBody(of: MirrorSelector.Choice(source: 2, mode: .sameTag))
        #expect(book.use == SourceUse(senders: [0, 2]))
        book.onBody(of: MirrorSelector.Choice(source: 1, mode: .underDigest), at: 700)
        #expect(book.use == SourceUse(senders: [0, 1, 2], unprovenFrom: 700))
        book.onBody(of: MirrorSelector.Choice(source: 0, mode: .own), at: 900, isUnproven: true)
        #expect(book.use.unprovenFrom == 700, "the first join counts")
        book.onBytesLost()
        #expect(book.use == SourceUse())
        book.onBody(of: MirrorSelector.Choice(source: 1, mode: .own))
        #expect(book.use == SourceUse(described: 1, senders: [1]))
    }

    // MARK: Patience

    @Test func everyFourthFruitlessTryAndTheLastAreImpatient() {
        #expect(
            (1...9).map { MirrorSelector.isPatient(tries: $0, maxRetries: nil) }.enumerated().filter { !$1 }.map(\.0)
                == [
                    3, 7,
                ])
        #expect(MirrorSelector.isPatient(tries: 1, maxRetries: 1))
        #expect(!MirrorSelector.isPatient(tries: 2, maxRetries: 1))
        #expect(!MirrorSelector.isPatient(tries: 1, maxRetries: 0))
    }

    // MARK: Wrong digests

    /// The digest does not say which source was wrong: each sends the whole alone, the suspects last.
    @Test func suspectMirrorsAreAskedLastAndTheirBytesNotCombined() {
        let mixed = SourceUse(described: 0, senders: [0, 2], unprovenFrom: 0)
        guard let wary = MirrorSelector.suspect(mixed, count: 3, isDemanded: true) else {
            Issue.record("no source is suspected")
            return
        }
        #expect(wary == SourceUse(suspects: [0, 2]))
        var book = MirrorSelector(count: 3, use: wary)
        #expect(next(book) == ask(1))
        book.onBody(of: MirrorSelector.Choice(source: 1, mode: .own))
        #expect(book.use == SourceUse(described: 1, senders: [1], suspects: [0, 2]))
        #expect(book.another(besides: [1], proof: .digest)?.source == 1)
        book.onFailure(of: 1, Self.lost)
        #expect(next(book, hasBytes: true, .digest) == .fail(Self.lost))
        #expect(next(book, hasBytes: true, .digest, isPatient: false) == ask(0, .fromStart))
    }

    /// A source that went on without a validator may have had two versions: it sends the whole once more, and only
    /// once.
    @Test func theOnlySourceSendsTheWholeOnceMoreAfterAnUnprovenJoin() {
        var book = MirrorSelector(count: 1)
        book.onBody(of: MirrorSelector.Choice(source: 0, mode: .own), at: 500, isUnproven: true)
        guard let wary = MirrorSelector.suspect(book.use, count: 1, isDemanded: true) else {
            Issue.record("the source is not asked once more")
            return
        }
        #expect(wary == SourceUse(suspects: [0]))
        book = MirrorSelector(count: 1, use: wary)
        #expect(book.isWary && next(book) == ask(0))
        book.onBody(of: MirrorSelector.Choice(source: 0, mode: .own))
        #expect(MirrorSelector.suspect(book.use, count: 1, isDemanded: true) == nil)
    }

    @Test func aMirrorThatAloneSentWrongBytesIsNotAskedAgain() {
        var use = SourceUse(suspects: [0, 2])
        var asked: [Int] = []
        while case .request(let choice) = next(MirrorSelector(count: 3, use: use)) {
            asked.append(choice.source)
            var book = MirrorSelector(count: 3, use: use)
            book.onBody(of: choice)
            guard let left = MirrorSelector.suspect(book.use, count: 3, isDemanded: true) else { break }
            use = left
        }
        // The one that was not suspected may have sent a stale copy of a cache: it is asked once more.
        #expect(asked == [1, 0, 1, 2])
    }

    /// A wrong digest says more than that a mirror does not have the file.
    @Test func aRunFailsWithTheErrorOfThePreferredSourceAlsoIfThatIsAWrongDigest() {
        var selector = MirrorSelector(count: 2, use: SourceUse(excluded: [0]))
        selector.onFailure(of: 1, Self.gone)
        guard case .fail(let error) = next(selector) else {
            Issue.record("a source is left")
            return
        }
        #expect(error.reason == .checksumMismatch)
        selector = MirrorSelector(count: 2, use: SourceUse(excluded: [1]))
        selector.onFailure(of: 0, Self.gone)
        #expect(next(selector) == .fail(Self.gone))
    }

    @Test func aRetryMayAskACondemnedMirrorAgain() {
        #expect(next(MirrorSelector(count: 2, use: SourceUse(excluded: [0, 1]))) == ask(0))
    }

    /// A stale copy in a cache on the way has a wrong digest, though the source is right.
    @Test func aSourceThatAloneSentAWrongDemandedDigestIsAskedOnceMore() {
        let once = MirrorSelector.suspect(SourceUse(), count: 1, isDemanded: true)
        #expect(once == SourceUse(suspects: [0]))
        var again = SourceUse()
        again.suspects = [0]
        #expect(MirrorSelector.suspect(again, count: 1, isDemanded: true) == nil)
    }

    /// With the copy of a cache its digest was announced, too.
    @Test func aSourceThatAnnouncedAWrongDigestIsNotAskedAgain() {
        #expect(MirrorSelector.suspect(SourceUse(), count: 1, isDemanded: false) == nil)
        #expect(MirrorSelector.suspect(SourceUse(), count: 2, isDemanded: false) == SourceUse(excluded: [0]))
    }

    // MARK: Several at once

    @Test func concurrentAttemptsGoToUnseenMirrorsAndThenToTheFastest() {
        var book = MirrorSelector(count: 3)
        func another(_ busy: [Int], _ proof: MirrorSelector.Proof = .digest) -> Int? {
            book.another(besides: busy, proof: proof)?.source
        }
        #expect(another([0]) == 1)
        #expect(another([0, 1]) == 2)
        book.onSpeed(of: 0, bytes: 1000, in: .seconds(1))
        book.onSpeed(of: 1, bytes: 5000, in: .seconds(1))
        book.onSpeed(of: 2, bytes: 2000, in: .seconds(1))
        #expect(another([0, 2]) == 1)
        #expect(another([0, 1, 2]) == 1)
        #expect(another([0, 1, 1, 2]) == 1)
        #expect(another([0, 1, 1]) == 2)
        #expect(book.another(besides: [0], proof: .none)?.source == 0)
        #expect(book.another(besides: [0], proof: .digest)?.mode == .underDigest)
        #expect(book.another(besides: [0], proof: .tag)?.mode == .sameTag)
        for source in 0..<3 { book.onFailure(of: source, Self.lost) }
        #expect(another([0]) == nil)
    }

    @Test func onlyFailuresOfTheSourceCountAgainstIt() {
        for reason in [FailureReason.diskError, .insufficientSpace, .credentialMissing, .policyMissing, .internalError]
        {
            #expect(!MirrorSelector.concernsSource(TransferError(reason, "")))
        }
        for reason in [FailureReason.connectFailed, .httpStatus, .trustRejected, .idleTimeout, .rejectedByPolicy] {
            #expect(MirrorSelector.concernsSource(TransferError(reason, "")))
        }
    }

    @Test func sourceSetsHoldSixteenSources() {
        var set = SourceSet()
        for position in 0..<TaskSpecification.maxSources { set.insert(position) }
        #expect(set.count == 16 && set.bits == .max)
        set.insert(16)
        #expect(!set.contains(16) && set.count == 16)
        set.remove(3)
        #expect(!set.contains(3) && set == SourceSet(bits: set.bits))
    }

    // MARK: Damage

    @Test(arguments: [-1, 2, 16, Int.max]) func bytesOfARemovedSourceNeedADigest(described: Int) {
        var book = MirrorSelector(count: 2, use: SourceUse(described: described))
        #expect(book.use.described == 0 && book.use.unprovenFrom == 0)
        book.onFailure(of: 0, Self.lost)
        _ = next(book, hasBytes: true)
    }

    @Test func aDigestOfEveryMemberProvesMoreThanAStrongTagAndNothingWithoutALength() {
        var kept = ResumeData(totalLength: 10)
        #expect(MirrorSelector.Proof(of: kept, isDigestKnown: false) == .none)
        kept.validators = Validators(etag: "W/\"weak\"")
        #expect(MirrorSelector.Proof(of: kept, isDigestKnown: false) == .none)
        kept.validators = Validators(etag: "\"strong\"")
        #expect(MirrorSelector.Proof(of: kept, isDigestKnown: false) == .tag)
        #expect(MirrorSelector.Proof(of: kept, isDigestKnown: true) == .digest)
        kept.totalLength = nil
        #expect(MirrorSelector.Proof(of: kept, isDigestKnown: true) == .none)
    }
}
