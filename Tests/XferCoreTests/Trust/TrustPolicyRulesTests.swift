import Testing
import XferCore
import XferModel

@Suite struct TrustPolicyRulesTests {
    private let now = Timestamp(seconds: 1_800_000_000)
    private let key: KeyPin

    init() throws { key = try #require(KeyPin(digest: Array(repeating: 7, count: 32))) }

    private func certificate(until: Timestamp) -> Pin {
        .certificate(CertificatePin(der: [1], key: key, notAfter: until))
    }

    private func problem(_ change: (inout TrustPolicy) throws -> Void, at now: Timestamp?) throws -> TrustPolicyError
        .Problem?
    {
        var policy = TrustPolicy(
            name: "p", mode: .publicKey, pins: [.key(key)], hosts: [try HostPattern("example.org")])
        try change(&policy)
        do throws(TrustPolicyError) {
            try TrustPolicyRules.check(policy, at: now)
            return nil
        } catch {
            #expect(error.description.contains(error.field))
            return error.problem
        }
    }

    @Test func aConsistentPolicyIsAccepted() throws {
        #expect(try problem({ _ in }, at: now) == nil)
        #expect(try problem({ $0.expiresAt = now.advanced(by: .seconds(1)) }, at: now) == nil)
        #expect(try problem({ ($0.name, $0.hosts) = ("default", []) }, at: now) == nil)
        #expect(try problem({ $0.name = "a-b_c.9" }, at: now) == nil)
    }

    @Test(arguments: ["", "A", "a b", "a/b", "..", ".", "ä", "a\n", String(repeating: "a", count: 65)])
    func aPolicyWithABadNameIsRefused(name: String) throws {
        #expect(try problem({ $0.name = name }, at: now) == .badName)
    }

    @Test func aPolicyWithBadHostsIsRefused() throws {
        let pattern = try HostPattern("a.test")
        #expect(try problem({ $0.hosts = [] }, at: now) == .noHosts)
        #expect(try problem({ $0.name = "default" }, at: now) == .hostsOfDefault)
        #expect(try problem({ $0.hosts = [pattern, pattern] }, at: now) == .duplicateHost(pattern, other: "p"))
        let many = try (0..<257).map { try HostPattern("h\($0).test") }
        #expect(try problem({ $0.hosts = many }, at: now) == .tooMany("hosts", limit: 256))
    }

    /// Every cell that reads reject in the table, and no other.
    @Test func contradictoryPoliciesAreRefused() throws {
        for mode in TrustPolicy.Mode.allCases {
            for (hasPins, invalid, name) in (0..<8).map({ ($0 & 1 != 0, $0 & 2 != 0, $0 & 4 != 0) }) {
                let found = try problem(
                    { policy in
                        policy.mode = mode
                        policy.pins = hasPins ? [certificate(until: now.advanced(by: .seconds(9)))] : []
                        policy.allowsInvalidCertificates = invalid
                        policy.validatesDomainName = name
                    }, at: now)
                let expected: TrustPolicyError.Problem? =
                    StatedTable.words(mode.rawValue, hasPins, invalid, name) != nil
                    ? nil : .contradiction(mode == .none ? .nameOfAnything : .noPins)
                #expect(found == expected, "\(mode) \(hasPins) \(invalid) \(name)")
            }
        }
    }

    @Test func aPolicyWithBadPinsIsRefused() throws {
        #expect(try problem({ $0.mode = .certificate }, at: now) == .keyAsCertificate(index: 0))
        let expired = certificate(until: now)
        #expect(try problem({ $0.pins.append(expired) }, at: now) == .pinExpired(index: 1, now))
        #expect(try problem({ $0.pins.append(expired) }, at: nil) == nil)
        #expect(
            try problem({ $0.pins = Array(repeating: .key(key), count: 65) }, at: now) == .tooMany("pins", limit: 64))
    }

    @Test func aPolicyThatHasExpiredIsRefused() throws {
        #expect(try problem({ $0.expiresAt = now }, at: now) == .alreadyExpired(now))
        #expect(try problem({ $0.expiresAt = now }, at: nil) == nil)
    }

    @Test func aPolicyWithARelativeClientCertificatePathIsRefused() throws {
        let relative = ClientCertificateFiles(certificate: "/a.pem", key: "b.pem")
        #expect(try problem({ $0.clientCertificate = relative }, at: now) == .relativePath)
    }

    @Test func expiryWarningsComeOnceAndTheMostUrgentFirst() {
        let expiry = now
        func day(_ days: Double) -> Timestamp { expiry.advanced(by: .seconds(-86_400 * days)) }
        #expect(ExpiryWarning.due(for: expiry, after: nil, at: day(31)) == nil)
        #expect(ExpiryWarning.next(for: expiry, at: day(31)) == day(30))
        #expect(ExpiryWarning.due(for: expiry, after: nil, at: day(30)) == .month)
        #expect(ExpiryWarning.due(for: expiry, after: .month, at: day(8)) == nil)
        #expect(ExpiryWarning.due(for: expiry, after: .month, at: day(7)) == .week)
        #expect(ExpiryWarning.due(for: expiry, after: .month, at: day(0.5)) == .day)
        #expect(ExpiryWarning.due(for: expiry, after: .day, at: day(0)) == .expired)
        #expect(ExpiryWarning.due(for: expiry, after: nil, at: day(-100)) == .expired)
        #expect(ExpiryWarning.due(for: expiry, after: .expired, at: day(-100)) == nil)
        #expect(ExpiryWarning.next(for: expiry, at: day(0)) == nil)
    }
}
