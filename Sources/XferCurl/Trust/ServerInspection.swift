import CLinux
import Glibc
public import XferCore
public import XferModel
import XferTrust

/// Inspects a server's certificates as every connection of this service does, without a request.
public enum ServerInspection {
    /// A certificate as it is shown to people.
    public struct ShownChainCertificate: Hashable, Sendable {
        public var subject: String
        public var issuer: String
        /// Names in the subject's alternative names.
        public var names: [String]
        public var notBefore: Timestamp
        public var notAfter: Timestamp
        public var key: KeyPin
        public var pem: String
        /// Whether it names the host that was asked.
        public var namesHost: Bool
        /// DER, to compare with pinned certificates.
        public var der: [UInt8]
    }

    /// A single policy's verdict on the server's certificates.
    public struct Opinion: Hashable, Sendable {
        public var policy: TrustPolicy
        /// Why it refuses; nil accepts.
        public var failure: TrustFailure?
        /// What it would refuse if it were not `report_only`.
        public var violation: TrustFailure?
        public var isExpired: Bool
    }

    public struct Report: Hashable, Sendable {
        public var address: String?
        public var tlsVersion: String?
        /// Leaf first, as sent; empty when the handshake did not get so far.
        public var chain: [ShownChainCertificate]
        /// Whether the chain leads to a system anchor, name aside; nil without a chain.
        public var chainFailure: TrustFailure?
        /// What the server stapled; nil when the handshake did not get so far.
        public var stapledStatus: StapledStatus?
        /// The verdict of each policy, the host's first.
        public var opinions: [Opinion]
        /// Why no chain could be judged, or why the handshake failed for another reason than trust.
        public var failure: String?
        /// Why no connection was made: all of the host's addresses are refused.
        public var refusal: AdmissionRefusal?

        /// All policies accept and the handshake succeeded.
        public var isAccepted: Bool {
            failure == nil && !opinions.isEmpty && opinions.allSatisfy { $0.failure == nil }
        }
    }

    /// Connects, shakes hands, judges. Blocks its thread for as long as the name's resolution takes and twice
    /// `timeout`.
    public static func inspect(
        _ origin: Origin, policies: AppliedPolicies, authoritiesFile: String?,
        admission: AdmissionRules = AdmissionRules(), timeout: Int = 10
    ) -> Report {
        var report = Report(address: nil, tlsVersion: nil, chain: [], chainFailure: nil, opinions: [], failure: nil)
        let socket: Int32
        switch connect(to: ServerName(host: origin.host), port: origin.port, admission, timeout: timeout) {
        case .success(let connected): socket = connected
        case .failure(let fault):
            report.failure = fault.description
            report.refusal = fault.refusal
            return report
        }
        defer { close(socket) }
        let evaluator = ServerTrustEvaluator(anchors: TrustAnchors(file: authoritiesFile))
        let target = TrustTarget(origin, policies: policies)
        do {
            let identity = try policies.clientCertificate.map { files throws in try ClientIdentity(files) }
            let seen = try ServerProbe.handshake(over: socket, with: target, evaluator: evaluator, identity: identity)
            report.tlsVersion = seen.version
            if let verdict = seen.verdict {
                report.stapledStatus = seen.stapledStatus
                judge(seen.chain, by: policies, target, evaluator, &report)
                if verdict.isAccepted { report.failure = seen.failure }
            } else {
                report.failure = seen.failure ?? "the server showed no certificate"
            }
        } catch {
            report.failure = "\(error)"
        }
        return report
    }

    private static func judge(
        _ chain: [Certificate], by policies: AppliedPolicies, _ target: TrustTarget,
        _ evaluator: ServerTrustEvaluator, _ report: inout Report
    ) {
        report.chain = chain.map { certificate in
            ShownChainCertificate(
                subject: certificate.subject, issuer: certificate.issuer, names: certificate.alternativeNames,
                notBefore: certificate.notBefore, notAfter: certificate.notAfter, key: certificate.key,
                pem: certificate.pem, namesHost: certificate.names(target.host), der: certificate.der)
        }
        func verdict(_ applied: AppliedPolicy) -> TrustVerdict {
            var target = target
            target.policies = AppliedPolicies(host: applied)
            var verdict = evaluator.evaluate(chain, for: target)
            if let status = report.stapledStatus {
                verdict.add(evaluator.evaluate(status, of: chain, for: target))
            }
            return verdict
        }
        let nameless = TrustPolicy(name: TrustPolicy.defaultName, validatesDomainName: false)
        report.chainFailure = verdict(AppliedPolicy(nameless, at: Timestamp(microseconds: 0))).failure
        report.opinions = policies.all.map { applied in
            let verdict = verdict(applied)
            return Opinion(
                policy: applied.policy, failure: verdict.failure, violation: verdict.violations.first,
                isExpired: applied.isExpired)
        }
    }

    // MARK: Connecting

    private struct Fault: Error, CustomStringConvertible {
        let description: String
        var refusal: AdmissionRefusal?
    }

    private static func connect(
        to host: ServerName, port: UInt16, _ admission: AdmissionRules, timeout: Int
    ) -> Result<Int32, Fault> {
        var hints = addrinfo()
        hints.ai_socktype = xfer_stream_type()
        var list: UnsafeMutablePointer<addrinfo>?
        let code = getaddrinfo(host.description, String(port), &hints, &list)
        guard code == 0 else { return .failure(Fault(description: String(cString: gai_strerror(code)))) }
        defer { freeaddrinfo(list) }
        var last = "no address"
        var refusal: AdmissionRefusal?
        var hasTried = false
        var next = list
        while let address = next {
            next = address.pointee.ai_next
            if let ip = IPAddress.read(address.pointee.ai_addr),
                let refused = admission.refusal(ofAddress: ip, port: port)
            {
                refusal = refused
                continue
            }
            hasTried = true
            let descriptor = xfer_stream_socket(address.pointee.ai_family)
            guard descriptor >= 0 else { continue }
            // connect(2) obeys SO_SNDTIMEO, socket(7).
            var limit = timeval(tv_sec: timeout, tv_usec: 0)
            let size = socklen_t(MemoryLayout<timeval>.size)
            setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
            setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, size)
            if Glibc.connect(descriptor, address.pointee.ai_addr, address.pointee.ai_addrlen) == 0 {
                return .success(descriptor)
            }
            last = errno == EINPROGRESS ? "no answer within \(timeout) s" : String(cString: strerror(errno))
            close(descriptor)
        }
        if let refusal, !hasTried { return .failure(Fault(description: refusal.description, refusal: refusal)) }
        return .failure(Fault(description: "\(host):\(port) cannot be reached: \(last)"))
    }
}
