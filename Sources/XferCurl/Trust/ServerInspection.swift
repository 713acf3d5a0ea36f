import CLinux
import Glibc
public import XferCore
public import XferModel

/// Inspects a server's certificates under the same rules as the service's transfers. It sends no request.
public enum ServerInspection {
    /// Connects to the server, performs a TLS handshake and judges the certificates.
    ///
    /// Blocks its thread. `timeout`, in seconds, limits the connection to each of the host's addresses, and the handshake.
    /// It does not limit the name's resolution.
    ///
    /// - Throws: `AdmissionRefusal` if `admission` refuses all of the host's addresses. Then no connection was tried.
    public static func inspect(
        _ origin: Origin, policies: AppliedPolicies, authoritiesFile: String?,
        admission: AdmissionRules = AdmissionRules(), at now: Timestamp, timeout: Int = 10
    ) throws(AdmissionRefusal) -> ServerReport {
        var report = ServerReport(origin)
        let socket: Int32
        switch connect(to: ServerName(host: origin.host), port: origin.port, admission, timeout: timeout) {
        case .success(let connected): socket = connected
        case .failure(let fault):
            if let refusal = fault.refusal { throw refusal }
            report.failure = fault.description
            return report
        }
        defer { close(socket) }
        let evaluator = ServerTrustEvaluator(anchors: TrustAnchors(file: authoritiesFile))
        let target = TrustTarget(origin, policies: policies)
        do {
            let identity = try policies.clientCertificate.map { files throws in try ClientIdentity(files) }
            let seen = try ServerProbe.handshake(
                over: socket, with: target, evaluator: evaluator, identity: identity, timeout: timeout)
            report.tlsVersion = seen.version
            if let verdict = seen.verdict {
                let judgement = ServerReportBuilder(
                    chain: seen.chain, stapledStatus: seen.stapledStatus, target: target, evaluator: evaluator)
                judgement.describe(policies, at: now, in: &report)
                if verdict.isAccepted { report.failure = seen.failure }
            } else {
                report.failure = seen.failure ?? "the server sent no certificate"
            }
        } catch {
            report.failure = "\(error)"
        }
        return report
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
            // SO_SNDTIMEO also limits connect(2), see socket(7).
            var limit = timeval(tv_sec: timeout, tv_usec: 0)
            let size = socklen_t(MemoryLayout<timeval>.size)
            setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &limit, size)
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
