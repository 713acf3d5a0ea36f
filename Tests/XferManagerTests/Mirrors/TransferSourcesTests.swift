import Testing
import XferCore
import XferModel

@testable import XferManager

/// The source each connection of a transfer asks.
@Suite struct TransferSourcesTests {
    private func choice(_ source: Int) -> MirrorSelector.Choice {
        MirrorSelector.Choice(source: source, mode: .sameTag)
    }

    @Test func aConnectionWithoutAChoiceAsksTheFirstSourceForItsOwn() {
        let sources = TransferSources(count: 2, use: SourceUse())
        #expect(sources[3] == MirrorSelector.Choice(source: 0, mode: .own))
    }

    @Test func aConnectionIsAloneIfNoOtherLiveOneAsksItsSource() {
        var sources = TransferSources(count: 2, use: SourceUse())
        sources[1] = choice(1)
        #expect(sources.isAlone(1, among: [0]))
        sources[2] = choice(1)
        #expect(!sources.isAlone(1, among: [0, 2]))
    }

    @Test func withoutMirrorsNoFailureConcernsOneSourceAlone() {
        let sources = TransferSources(count: 1, use: SourceUse())
        #expect(!sources.isAlone(0, among: []))
    }
}
