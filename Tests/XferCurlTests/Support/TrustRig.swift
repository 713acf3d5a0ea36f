import XferCore
import XferCurl
import XferModel
import XferTestSupport

/// An authority the engine knows, and attempts that are held to policies.
struct TrustRig {
    let directory: TemporaryDirectory
    let authority: TestCA
    let harness: Harness

    init() throws {
        directory = try TemporaryDirectory("xfer-trust")
        authority = try TestCA()
        harness = try Harness()
        try FileTree.write(authority.pem, to: caFile)
    }

    var caFile: String { directory.file("ca.pem") }

    func serve(_ leaf: TestCertificate? = nil, _ change: (inout TLSServer.Options) -> Void = { _ in }) throws
        -> TLSServer
    {
        let leaf = try leaf ?? authority.issue()
        var options = TLSServer.Options(chain: authority.chain(for: leaf), privateKey: leaf.privateKey)
        change(&options)
        return try TLSServer(options)
    }

    func settings(_ policies: AppliedPolicies, proxy: AppliedPolicies = .ordinary) -> TrustSettings {
        TrustSettings(caFile: caFile, policies: policies, proxyPolicies: proxy)
    }

    /// A GET held to these policies on every hop.
    func get(
        _ url: String, _ policies: AppliedPolicies = .ordinary, proxy: String? = nil,
        proxyPolicies: AppliedPolicies = .ordinary
    ) async throws -> Harness.Record {
        let trust = settings(policies, proxy: proxyPolicies)
        return try await get(url) { _ in SessionSpec(key: SessionKey(proxy: proxy), trust: trust) }
    }

    func get(_ url: String, session: @escaping SessionChooser) async throws -> Harness.Record {
        try await harness.run(.get(url) { $0.session = session })
    }

    /// A GET held to what the resolver says of each hop.
    func get(_ url: String, _ resolver: PolicyResolver, task: String? = nil) async throws -> Harness.Record {
        let caFile = caFile
        return try await get(url) { url throws(TransferError) in
            do throws(PolicyResolutionError) {
                let policies = try resolver.resolve(url.origin, taskPolicy: task, at: Timestamp(seconds: 0))
                return SessionSpec(trust: TrustSettings(caFile: caFile, policies: policies))
            } catch {
                throw TransferError(error, host: url.hostKey)
            }
        }
    }
}

extension AppliedPolicies {
    init(_ policy: TrustPolicy) { self.init(host: AppliedPolicy(policy, at: Timestamp(seconds: 0))) }

    /// A key that has to be in the chain.
    static func key(_ certificate: TestCertificate, version: Int64 = 1) throws -> AppliedPolicies {
        AppliedPolicies(
            TrustPolicy(
                name: "strict", version: version, mode: .publicKey, pins: [.key(try KeyPin(certificate.keyPin))]))
    }

    /// A policy that accepts every certificate.
    static let lax = AppliedPolicies(
        TrustPolicy(name: "lax", version: 1, allowsInvalidCertificates: true, validatesDomainName: false))
}

extension TLSServer {
    func url(_ path: String = "/") -> String { "https://localhost:\(port)\(path)" }
}

extension Harness.Record {
    var trustVerdicts: [TrustVerdict] {
        events.compactMap { event in
            guard case .judged(let verdict) = event else { return nil }
            return verdict
        }
    }

    var text: String? { outcome.result == .complete ? outcome.body.map { String(decoding: $0, as: UTF8.self) } : nil }
}
