import Testing
import XferModel

/// Texts of the rules by which connections are made, as curl takes them.
@Suite struct ConnectionRulesTests {
    @Test(
        arguments: [
            ("example.org:443:192.0.2.7", "example.org:443:192.0.2.7"),
            ("EXAMPLE.org:443:192.0.2.7,2001:DB8::7", "example.org:443:192.0.2.7,[2001:db8::7]"),
            ("*:80:[::1]", "*:80:[::1]"), ("a_b:65535:1.2.3.4", "a_b:65535:1.2.3.4"),
        ])
    func aResolveRuleIsReadAndWrittenInOneForm(text: String, form: String) throws {
        let rule = try #require(ResolveRule(text))
        #expect(rule.description == form && ResolveRule(form) == rule)
    }

    @Test(
        arguments: [
            "", ":", "::", "a:b:c", "a:0:1.2.3.4", "a:65536:1.2.3.4", "a:443:", "a:443:1.2.3.4,", "a:443:1.2.3",
            ":443:1.2.3.4",
            "a b:443:1.2.3.4", "a:+443:1.2.3.4", "-a:443", "+a:443:1.2.3.4\n", "a:443:example.org",
            "a\u{0}:443:1.2.3.4",
        ])
    func aTextThatIsNoResolveRuleIsRefused(text: String) { #expect(ResolveRule(text) == nil) }

    @Test func aResolveRuleHasAtMostSixteenAddresses() {
        let addresses = (1...17).map { "192.0.2.\($0)" }
        #expect(ResolveRule("a:1:" + addresses.dropLast().joined(separator: ",")) != nil)
        #expect(ResolveRule("a:1:" + addresses.joined(separator: ",")) == nil)
    }

    @Test(
        arguments: [
            ("a:1:b:2", "a:1:b:2"), (":::", ":::"), ("A::B:", "a::b:"),
            ("[2001:db8::1]:443:[::1]:8443", "[2001:db8::1]:443:[::1]:8443"),
            ("::node.example.net:", "::node.example.net:"),
        ])
    func aConnectToRuleIsReadAndWrittenInOneForm(text: String, form: String) throws {
        let rule = try #require(ConnectToRule(text))
        #expect(rule.description == form && ConnectToRule(form) == rule)
    }

    @Test(
        arguments: [
            "", "a", "a:1", "a:1:b", "a:x:b:2", "a:1:b:0", "a:1:b:2:3", "[a]:1:b:2", "[::1:1:b:2", "a b:1:c:2",
            "a:1:b:65536",
        ])
    func aTextThatIsNoConnectToRuleIsRefused(text: String) { #expect(ConnectToRule(text) == nil) }

    @Test func theFirstMatchingRuleSaysWhatIsConnectedTo() throws {
        var rules = ConnectionRules()
        rules.connectTo = try ["a:80:b:81", "a::c:", ":443::8443"].map { try #require(ConnectToRule($0)) }
        func target(_ host: String, _ port: UInt16) -> String? {
            rules.target(ofHost: host, port: port).map { "\($0.host):\($0.port)" }
        }
        #expect(target("A", 80) == "b:81")
        #expect(target("a", 443) == "c:443")
        #expect(target("x", 443) == "x:8443")
        #expect(target("x", 80) == nil)
    }

    @Test(arguments: [("eth0", "if!eth0"), ("192.0.2.7", "host!192.0.2.7"), ("2001:db8::7", "host!2001:db8::7")])
    func anInterfaceIsANameOrAnAddress(text: String, curlText: String) {
        #expect(LocalInterface(text)?.curlText == curlText)
    }

    @Test(arguments: ["", "eth*", "a!b", "sixteen-bytes-xx", "a b", "a/b", "eth0:1"])
    func aTextThatIsNoInterfaceIsRefused(text: String) { #expect(LocalInterface(text) == nil) }
}
