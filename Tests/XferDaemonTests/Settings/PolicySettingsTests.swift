import Testing
import XferModel

@testable import XferDaemon

@Suite struct PolicySettingsTests {
    private static let pin = "sha256/BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc="

    @Test func everyFieldOfAPolicyIsReadAndPrinted() throws {
        let loaded = try load(
            """
            trust:
              policies:
                - name: bank
                  mode: public_key
                  pins: \(Self.pin)
                  hosts: bank.test
                  validates_domain_name: false
                  report_only: true
                  expires_at: 2027-01-02T03:04:05Z
                  min_tls: 1.3
                  require_stapled_ocsp: true
            """)
        let bank = TrustPolicy(
            name: "bank", mode: .publicKey, validatesDomainName: false, hosts: [try HostPattern("bank.test")],
            isReportOnly: true, expiresAt: Timestamp(rfc3339: "2027-01-02T03:04:05Z"), minimumTLS: .tls13,
            requiresStapledOCSP: true)
        var read = try #require(loaded.settings.policies.first)
        #expect(read.pins == [Self.pin] && read.policy.pins.count == 1)
        read.policy.pins = []
        #expect(read.policy == bank)
        // What is printed can be read again.
        #expect(try load(loaded.yaml).settings == loaded.settings)
        #expect(loaded.yaml.contains(#"{name: "bank", mode: "public_key", pins: ["sha256/"#), "\(loaded.yaml)")
    }

    @Test(arguments: [
        ("{ name: a, pinz: [] }", "1:32: trust.policies: pinz: unknown key, did you mean pins?"),
        ("{ mode: none }", "1:21: trust.policies: name is missing: expected lower-case letters"),
        ("{ name: a, min_tls: 1.1 }", #"1:41: trust.policies: min_tls: expected 1.2 or 1.3, found "1.1""#),
        ("{ name: a, report_only: 1 }", #"1:45: trust.policies: report_only: expected true or false, found "1""#),
        ("{ name: a, expires_at: soon }", "1:44: trust.policies: expires_at: expected an RFC 3339 time such as"),
        ("{ name: a, pins: [sha256/AAAA] }", "1:39: trust.policies: pins[0]: "),
        ("{ name: a, pins: [/no/file] }", "1:39: trust.policies: pins[0]: /no/file cannot be read"),
        ("{ name: a, hosts: ['*.*.org'] }", "1:40: trust.policies: hosts[0]: "),
        (
            "{ name: a, client_certificate: { key: /k } }",
            "1:52: trust.policies: client_certificate: certificate is missing: expected absolute path of the PEM file"
        ),
        (
            "{ name: a, client_certificate: { kei: /k } }",
            "1:54: trust.policies: client_certificate.kei: unknown key, did you mean key?"
        ),
        ("bank", #"1:21: trust.policies: expected a mapping with name, mode, pins, hosts, …, found "bank""#),
    ])
    func aFaultyPolicyIsNamedWithItsPlaceAndField(policy: String, start: String) throws {
        let found = try problems(of: "trust: { policies: [\(policy)] }")
        #expect(found.count == 1 && found[0].hasPrefix("/c.yaml:" + start), "\(found)")
    }
}
