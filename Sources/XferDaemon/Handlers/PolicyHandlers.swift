import XferManager
import XferModel
import XferProtocol

/// Handles `policy.*`: decodes, authorises, calls and encodes.
struct PolicyHandlers: Sendable {
    let policies: TrustPolicies

    var all: [Handler] {
        [
            Handler(
                PolicyList.self,
                encoding: { params, _, _ in
                    PageText.named(await policies.list(), params, as: PolicyList.Result.self, name: \.policy.name) {
                        PolicyRecord($0)
                    }
                }),
            Handler(PolicyGet.self) { params, _ in
                PolicyGet.Result(policy: PolicyRecord(try policies.get(params.name)))
            },
            Handler(PolicySet.self, set), Handler(PolicyRemove.self, remove), Handler(PolicyTest.self, test),
            Handler(PolicyPin.self, pin),
        ]
    }

    private func set(_ params: PolicySet.Params, _: CallContext) async throws -> PolicyGet.Result {
        let policy: TrustPolicy
        do throws(PolicyInputError) {
            policy = try params.policy.policy()
        } catch {
            throw ManagerError.invalidField(
                path: "policy.\(error.path)", reason: error.reason, expected: error.expected)
        }
        return PolicyGet.Result(policy: PolicyRecord(try await policies.set(policy, path: "policy.")))
    }

    private func remove(_ params: PolicyGet.Params, _: CallContext) async throws -> Done {
        try await policies.remove(params.name)
        return Done()
    }

    private func test(_ params: PolicyTest.Params, _: CallContext) async throws -> ServerReportRecord {
        ServerReportRecord(try await policies.test(url: params.url, policy: params.policy))
    }

    private func pin(_ params: PolicyPin.Params, _: CallContext) async throws -> ServerReportRecord {
        let port = UInt16(clamping: params.port)
        return ServerReportRecord(try await policies.showPins(host: params.host, port: port))
    }
}

extension PolicyInput {
    /// The policy of the input.
    /// - Parameter readPins: reads the pins of one text.
    func policy(
        readPins: (String) throws(PolicyTextError) -> [Pin] = PolicyText.pins(in:)
    ) throws(PolicyInputError) -> TrustPolicy {
        var policy = TrustPolicy(
            name: name, mode: mode, allowsInvalidCertificates: allowInvalidCertificates,
            validatesDomainName: validatesDomainName, isReportOnly: reportOnly, expiresAt: expiresAt,
            minimumTLS: minTLS, clientCertificate: clientCertificate?.files,
            requiresStapledOCSP: requireStapledOCSP)
        for (index, text) in pins.enumerated() {
            do throws(PolicyTextError) {
                policy.pins += try readPins(text)
            } catch {
                throw PolicyInputError(
                    path: "pins[\(index)]", reason: error.description,
                    expected: "sha256/ and 44 characters of base64, or PEM certificates")
            }
        }
        for (index, text) in hosts.enumerated() {
            do throws(PolicyTextError) {
                policy.hosts.append(try PolicyText.host(text))
            } catch {
                throw PolicyInputError(
                    path: "hosts[\(index)]", reason: error.description,
                    expected: "example.org, *.example.org or .example.org, each with an optional :port")
            }
        }
        return policy
    }
}

/// An error for an invalid pin or host pattern of a policy.
struct PolicyInputError: Error, Hashable, CustomStringConvertible {
    let path: String
    let reason: String
    let expected: String

    var description: String { "\(path): \(reason)" }
}

extension PolicyRecord {
    init(_ entry: PolicyEntry) {
        self.init(entry.policy, origin: entry.origin, pinText: PolicyText.text)
    }
}

extension ServerReportRecord {
    init(_ report: ServerReport) {
        self.init()
        host = report.origin.host
        port = Int(clamping: report.origin.port)
        verdict = OpenEnum(report.isAccepted ? .accepted : report.chain.isEmpty ? .unreachable : .refused)
        error = report.failure
        tlsVersion = report.tlsVersion
        chain = report.chain.map { ServerCertificateRecord($0) }
        stages = report.stages.map { StageRecord(stage: $0.stage, passed: $0.isPassed, detail: $0.detail) }
        policies = report.opinions.map {
            PolicyVerdictRecord(
                name: $0.policy, version: $0.version, failure: $0.failure, violation: $0.violation,
                expired: $0.isExpired)
        }
    }
}

extension ServerCertificateRecord {
    init(_ certificate: ServerReport.Certificate) {
        self.init()
        subject = certificate.subject
        issuer = certificate.issuer
        names = certificate.names
        notBefore = certificate.notBefore
        notAfter = certificate.notAfter
        pin = certificate.key.description
        pinnedBy = certificate.pinnedBy
        pem = certificate.pem
    }
}
