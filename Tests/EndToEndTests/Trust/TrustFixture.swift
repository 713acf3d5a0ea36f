import StrictJSON
import Testing
import XferTestSupport

/// A test authority that the daemon trusts, and servers with its certificates.
struct TrustFixture {
    let authority: TestCA
    let directory: TemporaryDirectory

    init() throws {
        authority = try TestCA()
        directory = try TemporaryDirectory("trust")
        try FileTree.write(authority.pem, to: directory.file("ca.pem"))
    }

    /// A daemon that trusts the authority, with these policies in its configuration.
    func options(policies: String = "[]") -> DaemonFixture.Options {
        DaemonFixture.Options(settings: [
            "trust": ["ca_file": "\"\(directory.file("ca.pem"))\"", "policies": policies]
        ])
    }

    func server(_ leaf: TestCertificate, _ change: (inout TLSServer.Options) -> Void = { _ in }) throws -> TLSServer {
        var options = TLSServer.Options(chain: authority.chain(for: leaf), privateKey: leaf.privateKey)
        change(&options)
        return try TLSServer(options)
    }

    /// A well-formed pin that matches no key of the tests.
    static let foreignPin = "sha256/BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc="
}

extension DaemonFixture {
    /// Pins a host's key over RPC and gives the policy as it was stored.
    @discardableResult
    func pin(
        _ name: String, _ host: String, _ pins: [String], _ more: JSONObject = [:]
    ) async throws -> JSONValue {
        var policy: JSONObject = [
            "name": .string(name), "mode": "public_key", "hosts": [.string(host)],
            "pins": .array(pins.map(JSONValue.string)),
        ]
        for (key, value) in more.members { policy[key] = value }
        let result = try await call("policy.set", ["policy": .object(policy)])
        return result["policy"] ?? result
    }

    /// The error a call is answered with.
    func refusal(_ method: String, _ params: JSONValue) async throws -> RPCRefusal? {
        do {
            _ = try await call(method, params)
            return nil
        } catch let refusal as RPCRefusal {
            return refusal
        }
    }

    var policyNames: [String] {
        get async throws {
            let result = try await call("policy.list")
            return (result["policies"]?.arrayValue ?? []).compactMap { $0["name"]?.stringValue }
        }
    }
}
