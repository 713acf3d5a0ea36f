import StrictJSON
import Testing
import XferTestSupport

/// Who may write policies: operators. Others may ask for more, never for less.
@Suite(.enabled(if: Guest.isPossible, "needs root and setpriv")) struct PolicyAccessTests {
    private let trust: TrustFixture

    init() throws { trust = try TrustFixture() }

    /// A guest's task is held to the host's policy, and to its own besides; naming a laxer one takes nothing away.
    @Test func aGuestsTaskMayTightenButNotLoosenThePolicy() async throws {
        let leaf = try trust.authority.issue()
        let stranger = try TestCA.selfSigned()
        let server = try trust.server(leaf)
        let unknown = try TLSServer(TLSServer.Options(chain: stranger.certificate, privateKey: stranger.privateKey))
        try await withGuest(trust.options()) { daemon, guest in
            try await daemon.pin(
                "lax", "localhost", [],
                ["mode": "none", "allow_invalid_certificates": true, "validates_domain_name": false])
            try await daemon.pin("strict", ".localhost", [TrustFixture.foreignPin])
            try await daemon.pin("host", "localhost:\(unknown.port)", [TrustFixture.foreignPin])
            func state(_ arguments: String...) async throws -> String {
                let added = try await guest(["add", "--wait", "-d", "."] + arguments)
                return "\(added.exit) \(added.errors)\(added.output)"
            }
            let plain = try await state("https://localhost:\(server.port)/f")
            #expect(plain.contains("code(0)"), "\(plain)")
            let strict = try await state("https://localhost:\(server.port)/f", "--policy", "strict")
            #expect(strict.contains("pin_mismatch"), "\(strict)")
            // The host's own stays, whatever the task names.
            let named = try await state("https://localhost:\(unknown.port)/f", "--policy", "lax")
            #expect(named.contains("\"host\"") && !named.contains("code(0)"), "\(named)")
            #expect(unknown.counts.requests.isEmpty)
        }
    }

    @Test func aGuestMayNotWritePolicies() async throws {
        try await withGuest(trust.options()) { daemon, guest in
            let kept = try await daemon.pin("bank", "bank.test", [TrustFixture.foreignPin])
            let seq = try await daemon.events().count
            for arguments in [
                ["policy", "set", "mine", "--host", "mine.test", "--pin", TrustFixture.foreignPin],
                ["policy", "set", "bank", "--host", "bank.test", "--mode", "none"], ["policy", "remove", "bank"],
                ["policy", "list"], ["policy", "test", "https://127.0.0.1:1/"], ["policy", "pin", "127.0.0.1:1"],
            ] {
                let refused = try await guest(arguments)
                #expect(refused.exit == .code(3), "\(arguments): \(refused)")
                #expect(refused.errors.contains("for operators only"), "\(arguments): \(refused)")
            }
            #expect(try await daemon.policyNames == ["bank", "default"])
            #expect(try await daemon.call("policy.get", ["name": "bank"])["policy"] == kept)
            #expect(try await daemon.events().count == seq)
        }
    }
}
