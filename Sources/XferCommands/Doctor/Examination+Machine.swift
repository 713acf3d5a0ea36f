import XferModel
import XferProtocol
import XferSystem

/// The machine: its clock, names, certificates, limits and service manager.
extension Examination {
    /// The earliest second that the clock can show: this version was written later.
    private static let plausible: Int64 = 1_767_225_600

    func clock() -> Finding {
        guard system.now >= Self.plausible else {
            return .problem(
                "clock", "it is far behind, so that certificates seem not to be valid yet",
                "set it: timedatectl set-ntp true")
        }
        guard system.isClockSynchronised != false else {
            return .warning(
                "clock", "no time service synchronises it",
                "timedatectl set-ntp true; waits and deletions follow the clock")
        }
        return .well("clock", "it is plausible")
    }

    /// Judges whether names of hosts are resolved.
    ///
    /// - Parameter host: resolved if the user specified one.
    func names(host: String?) -> Finding {
        if let host {
            return system.resolves(host)
                ? .well("dns", "\(host) has an address")
                : .problem("dns", "\(host) has no address", "check the name, and the servers in /etc/resolv.conf")
        }
        let lines = system.text("/etc/resolv.conf")?.split(separator: "\n") ?? []
        guard lines.contains(where: { $0.hasPrefix("nameserver ") || $0.hasPrefix("nameserver\t") }) else {
            return .warning(
                "dns", "/etc/resolv.conf lists no server",
                "names of hosts are not resolved unless another way is configured: xferctl doctor --host HOST tries it")
        }
        return .well("dns", "/etc/resolv.conf lists a server")
    }

    /// A proxy that the caller's environment names: nil if there is none.
    func proxies(_ caller: CallerProxies) -> Finding? {
        guard !caller.urls.isEmpty else { return nil }
        let named = "your environment sets the proxy \(caller.urls.joined(separator: ", "))"
        if settings["network.proxy_from_environment"] == "true" {
            return .well("proxy", "\(named); the daemon uses that of its own environment")
        }
        return .warning(
            "proxy", "\(named), which the daemon does not use",
            "give it to tasks with --proxy, to all of them with a profile, or set network.proxy_from_environment: true "
                + "and the variable in the daemon's environment (systemctl edit xferd, Environment=)")
    }

    func authorities() -> Finding {
        let path = text(settings["trust.ca_file"]) ?? "/etc/ssl/certs/ca-certificates.crt"
        let advice = "apt install ca-certificates, or set trust.ca_file"
        switch system.entry(path) {
        case .missing: return .problem("ca_file", "\(path) does not exist: no https server is trusted", advice)
        case .unreadable, .unresponsive: return .warning("ca_file", "you cannot read \(path)", "check that xferd can")
        case .directory, .other: return .problem("ca_file", "\(path) is not a file", advice)
        case .file: break
        }
        guard system.text(path)?.contains("-----BEGIN CERTIFICATE-----") == true else {
            return .problem("ca_file", "\(path) contains no certificate: no https server is trusted", advice)
        }
        return .well("ca_file", "\(path) contains certificates")
    }

    /// The trust policies that expire within 30 days, or have expired.
    func expiries(_ policies: [PolicyRecord]) -> [Finding] {
        policies.compactMap { policy in
            guard let expiry = policy.expiresAt else { return nil }
            let name = "the trust policy \"\(SafeText.sanitised(policy.name))\""
            let left = expiry.wholeSecond.subtractingSaturated(system.now)
            guard left > 0 else {
                return .problem(
                    "policy", "\(name) has expired: only the ordinary check applies to its hosts",
                    "set it again with new pins and another expires_at, or remove it: xferctl policy")
            }
            let days = left / 86_400
            guard days < 30 else { return nil }
            return .warning(
                "policy", "\(name) expires \(days == 0 ? "within a day" : "in \(days) day\(days == 1 ? "" : "s")")",
                "set it again with a later expires_at before that: xferctl policy")
        }
    }

    /// Checks the number of open files that the daemon may have (proc(5), `/proc/PID/limits`).
    func limits(processID: Int64) -> Finding? {
        guard let text = system.text("/proc/\(processID)/limits"),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("Max open files") }),
            let limit = line.dropFirst(14).split(separator: " ").first.flatMap({ Int64($0, radix: 10) })
        else { return nil }
        guard limit >= 4096 else {
            return .warning(
                "limits", "xferd may have \(limit) files open, enough for some \(max(1, (limit - 336) / 5)) downloads",
                "LimitNOFILE=65536 in the unit, or ulimit -n before xferd is started")
        }
        return .well("limits", "xferd may have \(limit) files open")
    }

    /// The service manager's view of the daemon.
    func service(isUser: Bool) -> [Finding] {
        guard let unit = system.unit("xferd.service", isUser), unit["LoadState"] == "loaded" else { return [] }
        let user = isUser ? "--user " : ""
        var findings: [Finding] = []
        if unit["ActiveState"] == "failed" {
            findings.append(
                .problem(
                    "systemd", "xferd.service has failed: \(unit["Result"] ?? "unknown")",
                    "journalctl \(user)-u xferd says why; systemctl \(user)restart xferd"))
        }
        if let count = unit["NRestarts"].flatMap({ Int64($0, radix: 10) }), count > 3 {
            findings.append(
                .warning("systemd", "xferd.service was restarted \(count) times", "journalctl \(user)-u xferd -p err"))
        }
        if ["disabled", "static"].contains(unit["UnitFileState"]) {
            findings.append(
                .warning(
                    "systemd", "xferd.service is not enabled: nothing is resumed at boot",
                    "systemctl \(user)enable xferd.service"))
        }
        if isUser, system.entry("/var/lib/systemd/linger/\(system.userName)") == .missing {
            findings.append(
                .warning("systemd", "your daemon ends when you log out", "loginctl enable-linger keeps it running"))
        }
        return findings.isEmpty ? [.well("systemd", "xferd.service is enabled")] : findings
    }
}
