import Glibc
import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferCurl

/// A test's own authority, known to its evaluator as the system's.
struct TrustFixture {
    let directory: TemporaryDirectory
    let authority: TestCA
    let evaluator: ServerTrustEvaluator

    init(authority: TestCA? = nil) throws {
        directory = try TemporaryDirectory("xfer-trust")
        self.authority = try authority ?? TestCA()
        let authority = self.authority
        try FileTree.write(authority.pem, to: directory.file("ca.pem"))
        evaluator = ServerTrustEvaluator(anchors: TrustAnchors(file: directory.file("ca.pem")))
    }

    func policies(_ policy: TrustPolicy, and task: TrustPolicy? = nil) -> AppliedPolicies {
        AppliedPolicies(
            host: AppliedPolicy(policy, at: Self.now), task: task.map { AppliedPolicy($0, at: Self.now) })
    }

    func judge(_ chain: [Certificate], _ policy: TrustPolicy, host: String = "localhost") -> TrustVerdict {
        evaluator.evaluate(
            chain, for: TrustTarget(host: ServerName(host: host), port: 443, policies: policies(policy)))
    }

    /// Shakes hands with a server that shows this chain.
    func shake(
        _ options: TLSServer.Options, _ policies: AppliedPolicies = .ordinary, host: String = "localhost",
        identity: ClientIdentity? = nil
    ) async throws -> (report: ServerProbe.Report, server: TLSServer) {
        let server = try TLSServer(options)
        let report = try await shake(server, policies, host: host, identity: identity)
        return (report, server)
    }

    func shake(
        _ server: TLSServer, _ policies: AppliedPolicies = .ordinary, host: String = "localhost",
        identity: ClientIdentity? = nil
    ) async throws -> ServerProbe.Report {
        let evaluator = evaluator
        let port = server.port
        return try await offThread {
            let socket = try TLSServer.connect(port: port)
            defer { close(socket) }
            let target = TrustTarget(
                host: ServerName(host: host), port: UInt16(truncatingIfNeeded: port), policies: policies)
            return try ServerProbe.handshake(over: socket, with: target, evaluator: evaluator, identity: identity)
        }
    }

    static var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(seconds: Int64(time.tv_sec))
    }
}

extension TestCertificate {
    var parsed: Certificate {
        get throws { try #require(Certificate(der: der)) }
    }

    var asPin: Pin {
        get throws { .certificate(try parsed.pin) }
    }

    var asKeyPin: Pin {
        get throws { .key(try KeyPin(keyPin)) }
    }
}

extension TrustPolicy {
    init(_ mode: Mode, _ pins: [Pin] = [], invalid: Bool = false, name: Bool = true) {
        self.init(
            name: "test", version: 3, mode: mode, pins: pins, allowsInvalidCertificates: invalid,
            validatesDomainName: name)
    }
}
