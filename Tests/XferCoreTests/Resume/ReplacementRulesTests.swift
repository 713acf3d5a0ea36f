import Testing
import XferCore
import XferModel

@Suite struct ReplacementRulesTests {
    private let sight = AnswerDoubt(signature: "b", count: 1)

    @Test func aNewVersionIsReceivedBesideManyKeptBytesTheFirstTime() {
        let least = ReplacementRules.leastKept
        for (kept, isMany) in [(0, false), (least - 1, false), (least, true), (least + 1, true), (.max, true)] {
            #expect(ReplacementRules.isBeside(kept: kept, doubt: nil, sight: sight) == isMany)
            #expect(
                ReplacementRules.isBeside(kept: kept, doubt: AnswerDoubt(signature: "a", count: 2), sight: sight)
                    == isMany)
            #expect(
                !ReplacementRules.isBeside(kept: kept, doubt: AnswerDoubt(signature: "b", count: 1), sight: sight))
        }
    }

    @Test func itReplacesThemWhenItHasAsManyBytesOrIsWhole() {
        for (received, replaces) in [(Int64(0), false), (99, false), (100, true), (101, true), (.max, true)] {
            #expect(ReplacementRules.replaces(received, kept: 100, isWhole: false) == replaces)
            #expect(ReplacementRules.replaces(received, kept: 100, isWhole: true))
        }
    }

    @Test func answersAreTheSameIfAllThatIsShownOfThemIs() {
        let url = HTTPURL(scheme: .http, host: "h", port: 80, target: "/f")
        var head = ResponseHead(status: 200, fields: [HeaderField(name: "ETag", value: "\"b\"")])
        let first = SuspectRules.sight(of: head, source: url)
        #expect(first == SuspectRules.sight(of: head, source: url))
        #expect(first != SuspectRules.sight(of: head, source: nil))
        head.fields = [HeaderField(name: "ETag", value: "\"c\"")]
        #expect(first != SuspectRules.sight(of: head, source: url))
    }
}
