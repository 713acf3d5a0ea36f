import Testing
import XferModel

@Suite struct EmbeddedAddressTests {
    @Test(arguments: [
        ("::ffff:192.0.2.1", ["192.0.2.1"]), ("::192.0.2.1", ["192.0.2.1"]), ("::ffff:0:192.0.2.1", ["192.0.2.1"]),
        ("64:ff9b::192.0.2.1", ["192.0.2.1"]), ("2002:c000:201::1", ["192.0.2.1"]),
        ("64:ff9b:1:c000:2:100::", ["192.0.2.1"]), ("64:ff9b:1::192.0.2.1", ["192.0.2.1"]),
        ("64:ff9b:1:c0:0:201::", ["192.0.2.1"]), ("64:ff9b:1:0:c0:2:100:0", ["192.0.2.1"]),
        ("2001:0:c000:201:0:0:3fff:fdfe", ["192.0.2.1", "192.0.2.1"]), ("fe80::5efe:192.0.2.1", ["192.0.2.1"]),
        ("2001:db8::200:5efe:192.0.2.1", ["192.0.2.1"]), ("2001:db8::1", []), ("::", []), ("::1", []),
        ("192.0.2.1", []),
        ("2001:db8::5eff:192.0.2.1", []), ("64:ff9b:2::192.0.2.1", []),
    ])
    func everyEmbeddingFormYieldsItsIPv4Address(text: String, expected: [String]) throws {
        let found = try #require(IPAddress(text)).embeddedIPv4().map(\.description)
        #expect(expected.allSatisfy(found.contains) && found.isEmpty == expected.isEmpty, "\(found)")
    }

    @Test(arguments: [
        ("2001:db8::/32", "2001:db8:c000:201::"), ("2001:db8:100::/40", "2001:db8:1c0:2:1::"),
        ("2001:db8:122::/48", "2001:db8:122:c000:2:100::"), ("2001:db8:122:300::/56", "2001:db8:122:3c0:0:201::"),
        ("2001:db8:122:344::/64", "2001:db8:122:344:c0:2:100::"),
        ("2001:db8:122:344::/96", "2001:db8:122:344::192.0.2.1"),
    ])
    func aTranslationPrefixIsDecodedAsInRFC6052(prefix: String, address: String) throws {
        let prefix = try #require(TranslationPrefix(prefix))
        let address = try #require(IPAddress(address))
        #expect(prefix.embedded(in: address)?.description == "192.0.2.1")
        #expect(address.embeddedIPv4(translatedBy: [prefix]).map(\.description).contains("192.0.2.1"))
    }

    @Test(arguments: ["10.0.0.0/8", "2001:db8::/33", "2001:db8::1", "::ffff:0:0/96", "x", "2001:db8::/128", ""])
    func aTextThatIsNoTranslationPrefixIsRejected(text: String) { #expect(TranslationPrefix(text) == nil) }
}
