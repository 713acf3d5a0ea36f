import Testing
import XferCore
import XferModel

/// RFC 9111 §4.1: which request a kept response is for.
@Suite struct VariantTests {
    private func matches(vary: String, _ first: [(String, String)], _ second: [(String, String)]) throws -> Bool {
        let variant = try #require(
            Variant.selected(by: Sample.head(("Vary", vary)), sent: Sample.fields(first), digest: Sample.digest))
        return Variant.matches(variant, sent: Sample.fields(second), digest: Sample.digest)
    }

    @Test func aResponseWithoutVaryMatchesEveryRequest() throws {
        #expect(Variant.selected(by: Sample.head(), sent: Sample.fields([("A", "1")]), digest: Sample.digest) == [])
        #expect(Variant.matches([], sent: Sample.fields([("A", "2")]), digest: Sample.digest))
    }

    @Test func aVariantMatchesOnlyIfTheNamedFieldsAreEqual() throws {
        #expect(try matches(vary: "accept", [("Accept", "a/b")], [("accept", "a/b"), ("Other", "x")]))
        #expect(try !matches(vary: "accept", [("Accept", "a/b")], [("Accept", "a/c")]))
        #expect(
            try !matches(
                vary: "Accept, Accept-Language", [("Accept", "a")], [("Accept", "a"), ("Accept-Language", "de")]))
    }

    @Test func anAbsentFieldMatchesOnlyAnAbsentField() throws {
        #expect(try matches(vary: "Accept", [], []))
        #expect(try !matches(vary: "Accept", [], [("Accept", "")]))
        #expect(try !matches(vary: "Accept", [("Accept", "")], []))
    }

    @Test func repeatedFieldsAndSpacesDoNotChangeAVariant() throws {
        #expect(try matches(vary: "Accept", [("Accept", "a, b"), ("Accept", "c")], [("accept", "a ,b,  c")]))
        #expect(try !matches(vary: "Accept", [("Accept", "a, b")], [("Accept", "b, a")]))
    }

    @Test func aVariantContainsNoSecretValues() {
        let variant = Variant.selected(
            by: Sample.head(("Vary", "Authorization")), sent: Sample.fields([("Authorization", "Bearer swordfish")]),
            digest: { _ in [1, 2, 3] })
        #expect(variant == [HeaderField(name: "authorization", value: "010203")])
    }

    @Test func withoutADigestNoVariantIsStored() {
        #expect(
            Variant.selected(
                by: Sample.head(("Vary", "Accept")), sent: Sample.fields([("Accept", "a")]), digest: { _ in nil })
                == nil)
    }
}
