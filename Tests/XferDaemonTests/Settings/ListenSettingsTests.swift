import Testing
import XferGateway
import XferModel

@testable import XferDaemon

@Suite struct ListenSettingsTests {
    @Test func listenersAreReadAndPrinted() throws {
        let loaded = try load(
            """
            listen:
              - { address: "127.0.0.1:6800" }
              - address: "0.0.0.0:6801"
                tls: { certificate: /etc/x.pem, key: ~/x.key, client_ca: /etc/ca.pem }
                hosts: [Xfer.Example]
                origins: ["https://ui.example:8443"]
              - { address: "[::]:6802", insecure: true }
            gateway: { max_clients: 7 }
            """)
        let listeners = loaded.settings.listen
        #expect(listeners.map(\.address) == ["127.0.0.1:6800", "0.0.0.0:6801", "[::]:6802"])
        let second = try #require(listeners[1].configuration)
        #expect(
            second.tls == .init(certificate: "/etc/x.pem", key: "/home/ann/x.key", clientAuthorities: "/etc/ca.pem"))
        #expect(second.hosts == ["xfer.example"] && second.origins == ["https://ui.example:8443"])
        #expect(loaded.settings.gateway.maxClients == 7)
        // What is printed can be read again.
        #expect(try load(loaded.yaml).settings.listen == listeners)
        #expect(try load("listen:").settings.listen == [] && load("").settings.listen == [])
        #expect(try load("listen: { address: '127.0.0.1:1' }").settings.listen.count == 1)
    }

    @Test(arguments: [
        ("listen: 6800", "/c.yaml:1:9: listen"),
        ("listen: [{}]", "address is missing"),
        ("listen:\n  - address: localhost:6800", "/c.yaml:2:14: listen: [0].address: expected a numeric address"),
        ("listen:\n  - address: 127.0.0.1", "/c.yaml:2:14: listen: [0].address"),
        ("listen:\n  - address: '0.0.0.0:6800'", "/c.yaml:2:14: listen: [0].address: plain HTTP is for loopback only"),
        ("listen: [{ address: '[::1]:1' }, { address: '[::1]:1' }]", "[1].address: another listener"),
        ("listen: [{ address: '[::1]:1', tls: { certificate: /a } }]", "key is missing"),
        ("listen: [{ address: '[::1]:1', tls: { certificate: a, key: /b } }]", "[0].tls.certificate"),
        (
            "listen:\n  - address: '[::1]:1'\n    hosts: [ok, 'a:1']",
            "/c.yaml:3:17: listen: [0].hosts[1]: expected a host"
        ),
        ("listen: [{ address: '[::1]:1', hosts: ['*'] }]", "[0].hosts[0]"),
        ("listen: [{ address: '[::1]:1', origins: ['null'] }]", "[0].origins[0]"),
        ("listen: [{ address: '[::1]:1', origins: ['https://a.example/'] }]", "[0].origins[0]"),
        ("listen: [{ address: '[::1]:1', origins: ['*'] }]", "[0].origins[0]"),
        ("listen: [{ address: '[::1]:1', insecur: true }]", "did you mean insecure?"),
        ("gateway: { max_clients: 0 }", "gateway.max_clients"),
    ])
    func aFaultyListenerIsNamedWithItsPlace(yaml: String, part: String) throws {
        let problem = try #require(try problems(of: yaml).first)
        #expect(problem.contains(part), "\(problem)")
    }

    @Test func theAddressesOfAListenerAreItsOwnAndOfAWildcardAllOfTheMachine() throws {
        let loaded = try load(
            "listen: [{ address: '127.0.0.1:6800' }, { address: '[::]:6802', insecure: true }]")
        let addresses = OwnListeners.addresses(loaded.settings.listen).map { "\($0.block) \($0.port)" }
        #expect(addresses.contains("127.0.0.1 6800") && addresses.contains("::1 6802"))
        #expect(addresses.contains("127.0.0.0/8 6802") && !addresses.contains("::1 6800"))
    }
}
