import XferClient
import XferModel
import XferProtocol
import XferSystem

/// The rules of `xferctl doctor`: each function judges one thing by facts.
struct Examination: Sendable {
    let system: SystemFacts
    /// The settings in force by key; empty for callers that are not operators.
    let settings: [String: String]

    // MARK: The daemon

    /// The finding that no daemon answers, with the reasons.
    static func socket(_ error: NoDaemonError, _ managers: ServiceManagers = .ofThisMachine()) -> Finding {
        .problem("socket", "no daemon answers: \(error.reasons)", error.advice(managers))
    }

    /// - Parameter restart: the way to restart this daemon.
    static func socket(
        _ status: DaemonStatus.Result, clientVersion: String, restart: String = DaemonLaunch.anyRestart
    ) -> Finding {
        guard status.version == clientVersion else {
            return .warning(
                "socket", "\(status.socket) answers, xferd \(status.version), but xferctl is \(clientVersion)",
                "restart the daemon, which may be older than its file: \(restart)")
        }
        return .well("socket", "\(status.socket) answers, xferd \(status.version)")
    }

    /// The finding that the daemon answers, but refuses this user.
    static func rights(_ refusal: String) -> Finding {
        .problem(
            "rights", refusal, "an operator can list you under access.users")
    }

    func rights(isOperator: Bool) -> Finding {
        .well(
            "rights", isOperator ? "you are an operator" : "you may use the daemon; some checks are for operators only")
    }

    func database(_ status: DaemonStatus.Result) -> Finding {
        let reason = status.degradedReason ?? "it cannot be written, so nothing starts"
        let remedy = "free space, or restore the missing files in \(status.stateDirectory); xferd continues by itself"
        if let damaged = status.damagedRows, !damaged.isEmpty {
            let hasPolicy = damaged.contains { $0.hasPrefix("trust policy ") }
            let policyEffect = status.degraded ? "nothing starts" : "nothing starts after a restart"
            let effect = hasPolicy ? policyEffect : "they have no effect"
            let tasks = damaged.filter { $0.hasPrefix(DamagedRowText.task) }
            let ids = tasks.prefix(20).map { $0.dropFirst(DamagedRowText.task.count) }.joined(separator: " ")
            let isUnwritable = status.degraded && !hasPolicy
            var advice = isUnwritable ? [remedy] : []
            if tasks.count < damaged.count {
                advice.append("set them again or remove them: xferctl policy, xferctl profile, xferctl token")
            }
            if !tasks.isEmpty {
                advice.append(
                    "xferctl cancel \(SafeText.sanitised(ids)), then xferctl remove; or stop the daemon, and "
                        + "xferd --recover keeps what can be read")
            }
            let message = "damaged, and \(effect): \(DamagedRowText.list(damaged))"
            return .problem(
                "database", isUnwritable ? "\(reason); \(message)" : message, advice.joined(separator: "; "))
        }
        return status.degraded ? .problem("database", reason, remedy) : .well("database", "it can be written")
    }

    /// - Parameters:
    ///   - file: the daemon's configuration file.
    ///   - restart: the way to restart this daemon.
    func configuration(
        _ status: DaemonStatus.Result, file: String? = nil, restart: String = DaemonLaunch.anyRestart
    ) -> Finding {
        if let conflicts = status.configurationConflicts, !conflicts.isEmpty,
            status.configurationProblem.map({ $0 == conflicts.joined(separator: "; ") }) != false
        {
            let refusal = status.configurationProblem == nil ? "" : "the configuration file was not applied: "
            return .problem(
                "settings", refusal + conflicts.joined(separator: "; "),
                "xferctl policy show NAME and xferctl profile show NAME print what is in force; remove one of the two")
        }
        guard let problem = status.configurationProblem else {
            guard let waiting = status.keysWaitingForRestart, !waiting.isEmpty else {
                return .well("settings", "the configuration is in force")
            }
            let keys = waiting.map { SafeText.sanitised($0) }.joined(separator: ", ")
            return .warning(
                "settings", "\(keys) of the configuration file wait\(waiting.count == 1 ? "s" : "") for a restart",
                "restart the daemon: \(restart)")
        }
        return .problem(
            "settings", "the configuration file was not applied: \(problem)",
            "\(checkCommand(file)) shows the line; save the file again when it is corrected")
    }

    /// The command that checks the daemon's file, which need not be that of the caller's own daemon.
    private func checkCommand(_ file: String?) -> String {
        guard let file else { return "xferd --check-config" }
        return "xferd --config \(SafeText.sanitised(SuggestedCommand.quoted(file))) --check-config"
    }

    /// The webhooks whose receivers did not accept the last delivery.
    func webhooks(_ status: DaemonStatus.Result) -> [Finding] {
        (status.failingWebhooks ?? []).map { failing in
            let name = failing.prefix { $0 != ":" }
            return .warning(
                "webhook", "it does not accept deliveries, \(failing)",
                "xferctl webhook test \(name) sends an event at once; deliveries are repeated for 3 days")
        }
    }

    func queue(isPaused: Bool, network: NetworkState?) -> [Finding] {
        var findings: [Finding] = []
        if isPaused { findings.append(.warning("queue", "an operator has paused it", "xferctl queue resume")) }
        if network == .offline {
            findings.append(
                .problem("network", "there is no route to other machines", "xferctl network shows the interfaces"))
        }
        return findings
    }

    /// Reports the limits of the configuration that those of a client override.
    ///
    /// - Parameter configured: the keys that are set, and not left at their defaults.
    func limits(_ limits: QueueLimits, configured: Set<String>) -> [Finding] {
        let options = [
            ("max_active", "--max-active", ["queue.max_active"]),
            ("max_active_per_host", "--max-active-per-host", ["queue.max_active_per_host"]),
            ("order", "--order", ["queue.order"]),
            ("max_recv_rate", "--recv", ["bandwidth.timetable", "bandwidth.recv"]),
            ("max_send_rate", "--send", ["bandwidth.timetable", "bandwidth.send"]),
        ]
        return options.compactMap { name, option, keys in
            guard limits.overridden?.contains(name) == true, let key = keys.first(where: configured.contains) else {
                return nil
            }
            return .warning(
                "limits",
                "\(key) is not in force for \(name): a client has set a limit (xferctl limit, the page, aria2)",
                "xferctl limit \(option) default lets the configuration decide")
        }
    }

    // MARK: Values of settings

    /// A setting's text, which is YAML: a string in quotes, or bare.
    func text(_ value: String?) -> String? { value.flatMap(DaemonConfig.Setting.text) }
}
