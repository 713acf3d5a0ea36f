public import XferModel

/// A report-only policy for whose hosts a policy that allows invalid certificates decides.
///
/// Before 1.0.0 the ordinary check decided for them. Operators are warned, because an upgrade loosens the trust in the
/// hosts.
public struct LaxStandIn: Hashable, Sendable {
    /// The name of the report-only policy.
    public let reportOnly: String
    /// The name of the policy that decides for the hosts of the report-only policy.
    public let lax: String

    public init(reportOnly: String, lax: String) {
        self.reportOnly = reportOnly
        self.lax = lax
    }
}

extension PolicyResolver {
    /// The report-only policies for which a lax policy decides on some host, by name.
    public func laxStandIns(at now: Timestamp) -> [LaxStandIn] {
        let laxPorts = (policies + [defaultPolicy]).filter { AppliedPolicy($0, at: now).isLax }
            .flatMap { $0.hosts.compactMap(\.port) }
        var found: [LaxStandIn] = []
        for policy in policies where policy.isReportOnly {
            for pattern in policy.hosts {
                let ports = pattern.port.map { [$0] } ?? [443] + laxPorts
                for host in pattern.samples {
                    for port in ports {
                        let (reporting, deciding) = candidates(for: host, port: port)
                        guard reporting.contains(policy), AppliedPolicy(deciding, at: now).isLax else { continue }
                        let standIn = LaxStandIn(reportOnly: policy.name, lax: deciding.name)
                        if !found.contains(standIn) { found.append(standIn) }
                    }
                }
            }
        }
        return found
    }
}

extension HostPattern {
    /// Examples of names that the pattern matches: one for each case that less specific patterns distinguish.
    fileprivate var samples: [ServerName] {
        guard case .domain(let name) = name else { return [name] }
        let below = ServerName.domain("x.\(name)")
        return switch kind {
        case .exact: [.domain(name)]
        case .oneLabel: [below]
        case .anyDepth: [.domain(name), below]
        }
    }
}
