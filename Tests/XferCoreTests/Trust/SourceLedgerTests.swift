import Testing
import XferCore
import XferModel

/// Every server counts once, and one too many makes none of them untrusted.
@Suite struct SourceLedgerTests {
    private static func source(_ number: Int, tls: TLSVersion? = nil, judgement: String = "0") -> SourceEvidence {
        SourceEvidence(
            origin: Origin(scheme: tls == nil ? .http : .https, host: "host\(number)", port: 80),
            chain: tls == nil ? [] : [[UInt8(clamping: number)]], tls: tls, judgement: judgement)
    }

    private static func ledger(of count: Int, under settings: String = "a") -> SourceLedger {
        var ledger = SourceLedger()
        for number in 0..<count { ledger.insert(source(number), under: settings) }
        return ledger
    }

    @Test func equalEvidenceCountsOnce() {
        var ledger = SourceLedger()
        for _ in 0..<1000 { ledger.insert(Self.source(1, tls: .tls13), under: "a") }
        #expect(ledger.entries == [Self.source(1, tls: .tls13)])
    }

    @Test func aServerJudgedAgainHasItsLatestJudgement() {
        var ledger = SourceLedger()
        ledger.insert(Self.source(1, judgement: "0"), under: "a")
        ledger.insert(Self.source(1, judgement: "7"), under: "a")
        #expect(ledger.entries == [Self.source(1, judgement: "7")])
    }

    @Test func otherCertificatesOriginsAndVersionsOfTLSAreOtherServers() {
        var ledger = SourceLedger()
        var other = Self.source(1, tls: .tls13)
        other.chain = [[9]]
        for source in [Self.source(1, tls: .tls13), Self.source(1, tls: .tls12), Self.source(2, tls: .tls13), other] {
            ledger.insert(source, under: "a")
        }
        #expect(ledger.entries.count == 4)
    }

    @Test(arguments: [SourceLedger.maxCount - 1, SourceLedger.maxCount])
    func upToTheBoundEveryServerIsListed(count: Int) {
        let ledger = Self.ledger(of: count)
        #expect(ledger.entries == (0..<count).map { Self.source($0) })
        #expect(ledger.isFull == (count == SourceLedger.maxCount))
        #expect(ledger.refusalOfUnlisted(under: "b") == nil)
    }

    @Test(arguments: [1, 2, 1000]) func beyondTheBoundTheOthersAreTrustedUntilTheSettingsChange(more: Int) {
        let ledger = Self.ledger(of: SourceLedger.maxCount + more)
        #expect(ledger.entries.count == SourceLedger.maxCount + 1)
        #expect(ledger.refusalOfUnlisted(under: "a") == nil)
        #expect(ledger.refusalOfUnlisted(under: "b") != nil)
    }

    @Test func serversAcceptedUnderTwoSettingsAreTrustedUnderNeither() {
        var ledger = Self.ledger(of: SourceLedger.maxCount + 1)
        ledger.insert(Self.source(5000), under: "b")
        for settings in ["a", "b", ""] { #expect(ledger.refusalOfUnlisted(under: settings) != nil) }
    }

    @Test func aListedServerThatAnswersAgainChangesNothingBeyondTheBound() {
        var ledger = Self.ledger(of: SourceLedger.maxCount + 1)
        ledger.insert(Self.source(3, judgement: "9"), under: "b")
        #expect(ledger.refusalOfUnlisted(under: "a") == nil)
        #expect(ledger.entries[3].judgement == "9")
    }

    @Test func aUnionHasTheServersOfBothOnce() {
        var kept = Self.ledger(of: 10)
        kept.formUnion(Self.ledger(of: 20), under: "a")
        #expect(kept.entries == (0..<20).map { Self.source($0) })
        kept.formUnion(Self.ledger(of: SourceLedger.maxCount + 1, under: "c"), under: "a")
        #expect(kept.refusalOfUnlisted(under: "c") == nil && kept.refusalOfUnlisted(under: "a") != nil)
    }
}
