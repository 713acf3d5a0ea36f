import Testing
import XferModel

@testable import XferCore

/// AFNetworking's test vectors for query strings, and what they imply.
@Suite struct FormEncodingTests {
    private func encode(_ parameters: Parameter...) -> String { FormEncoding.encode(parameters) }

    @Test func pairsAreJoinedInTheOrderOfTheirKeys() {
        #expect(
            encode(Parameter("key1", .text("value&")), Parameter("key", .text("value"))) == "key=value&key1=value%26")
    }

    @Test func nestedMembersAndElementsAreEncodedWithBrackets() {
        let nested = ParameterValue.object([
            Parameter("sub", .list([.text("b"), .text("a")])), Parameter("deep", .object([Parameter("x", .text("1"))])),
        ])
        #expect(
            encode(Parameter("key", nested))
                == "key%5Bdeep%5D%5Bx%5D=1&key%5Bsub%5D%5B%5D=b&key%5Bsub%5D%5B%5D=a")
        #expect(
            FormEncoding.pairs(of: [Parameter("key", nested)]).map(\.name) == [
                "key[deep][x]", "key[sub][]", "key[sub][]",
            ])
    }

    @Test func nullIsEncodedAsABareKeyAndEmptyContainersVanish() {
        #expect(encode(Parameter("a", .null), Parameter("b", .list([])), Parameter("c", .object([]))) == "a")
        #expect(encode(Parameter("a", .text(""))) == "a=")
        #expect(encode() == "")
    }

    @Test func reservedCharactersAreEscaped() {
        #expect(
            FormEncoding.escape(":#[]@!$&'()*+,;=") == "%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D")
        #expect(FormEncoding.escape(" \"<>^`{|}%\\") == "%20%22%3C%3E%5E%60%7B%7C%7D%25%5C")
    }

    @Test func textThatLooksEncodedIsEncodedAgain() {
        #expect(
            encode(Parameter("key", .text("%20%21%22%23%24%25%26%27%28%29%2A%2B%2C%2F")))
                == "key=%2520%2521%2522%2523%2524%2525%2526%2527%2528%2529%252A%252B%252C%252F")
        #expect(
            encode(Parameter("key", .text(" :#[]@!$&'()*+,;=/?")))
                == "key=%20%3A%23%5B%5D%40%21%24%26%27%28%29%2A%2B%2C%3B%3D/?")
    }

    @Test func unreservedCharactersQuestionMarkAndSlashAreNotEncoded() {
        let kept = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~?/"
        #expect(FormEncoding.escape(kept) == kept)
    }

    @Test func emojiAreEncodedWholeInKeysAndValues() {
        #expect(
            FormEncoding.escape("👴🏿👷🏻👮🏽")
                == "%F0%9F%91%B4%F0%9F%8F%BF%F0%9F%91%B7%F0%9F%8F%BB%F0%9F%91%AE%F0%9F%8F%BD")
        // AFNetworking #3028: batches of 50 UTF-16 units cut an emoji in two.
        let three = "%F0%9F%91%B4%F0%9F%8F%BF%F0%9F%91%B7%F0%9F%8F%BB%F0%9F%91%AE%F0%9F%8F%BD"
        #expect(
            encode(Parameter("test", .text("!" + String(repeating: "👴🏿👷🏻👮🏽", count: 5))))
                == "test=%21" + String(repeating: three, count: 5))
        let text = String(repeating: "a", count: 49) + "👴🏿" + String(repeating: "b", count: 49)
        #expect(
            FormEncoding.escape(text)
                == String(repeating: "a", count: 49) + "%F0%9F%91%B4%F0%9F%8F%BF" + String(repeating: "b", count: 49))
    }
}

@Suite struct AcceptLanguageTests {
    @Test func languageWeightsFallByATenth() {
        #expect(AcceptLanguage.value(for: ["de-AT"]) == "de-AT;q=1.0")
        #expect(
            AcceptLanguage.value(for: ["a", "b", "c", "d", "e", "f", "g"])
                == "a;q=1.0, b;q=0.9, c;q=0.8, d;q=0.7, e;q=0.6, f;q=0.5, g;q=0.4")
        #expect(AcceptLanguage.value(for: []) == nil)
    }

    /// RFC 9110 §12.4.2: a weight above 0 with at most three digits; the order of preference is kept.
    @Test(arguments: [1, 2, 9, 10, 11, 32, 100, 999, 1000]) func everyLanguageHasAWeightOfItsOwn(count: Int) throws {
        let languages = (0..<count).map { "l\($0)" }
        let value = try #require(AcceptLanguage.value(for: languages))
        let weights = value.split(separator: ",").compactMap { $0.split(separator: "=").last.map(String.init) }
        #expect(weights.count == count && weights[0] == "1.0")
        #expect(weights.allSatisfy { (3...5).contains($0.count) })
        let numbers = weights.compactMap { Double($0) }
        #expect(zip(numbers, numbers.dropFirst()).allSatisfy { $0 > $1 } && numbers.count == count)
        #expect(try #require(numbers.last) > 0)
    }
}

@Suite struct MediaTypePresetsTests {
    @Test func contentTypePresetsExpandToTheirTypes() throws {
        #expect(try MediaTypePresets.expand(["json"]) == ["application/json", "text/json", "text/javascript"])
        #expect(try MediaTypePresets.expand(["xml", "Text/XML"]) == ["application/xml", "text/xml"])
        #expect(try MediaTypePresets.expand(["plist"]) == ["application/x-plist"])
        #expect(try MediaTypePresets.expand(["image"]).count == 12)
    }

    @Test func mediaRangesStandBesidePresetsAndTypes() throws {
        #expect(
            try MediaTypePresets.expand(["xml", "IMAGE/*", "*/*"]) == ["application/xml", "text/xml", "image/*", "*/*"])
    }

    @Test(arguments: ["jpeg", "", "a/b/c", "a/", "text/html; charset=utf-8", "*", "image/p*", "ima*/png", "/*"])
    func anUnknownPresetIsNamed(text: String) {
        #expect {
            try MediaTypePresets.expand(["json", text])
        } throws: {
            ($0 as? UnknownMediaType)?.index == 1
        }
    }
}
