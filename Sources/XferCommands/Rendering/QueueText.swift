import XferModel
import XferProtocol

/// The texts about the queue and the daemon.
struct QueueText: Sendable {
    let style: Style

    func lines(_ stats: QueueStats.Result) -> [String] {
        [
            entry("queue", Self.paused(stats.paused)), entry("tasks", counts(stats.counts)),
            entry("receiving", ByteText.rate(stats.rates.received)), entry("sending", ByteText.rate(stats.rates.sent)),
        ] + lines(stats.limits)
    }

    func lines(_ limits: QueueLimits, now: Timestamp = .now) -> [String] {
        func isAutomatic(_ name: String) -> Bool { limits.automatic?.contains(name) == true }
        func origin(_ name: String) -> String {
            limits.overridden?.contains(name) == true ? ", set by a client (xferctl limit, the page, aria2)" : ""
        }
        func rate(_ rate: Int64, _ name: String) -> String {
            let text = ByteText.limit(rate)
            guard origin(name).isEmpty else { return text + origin(name) }
            guard limits.timetabled?.contains(name) == true else {
                return rate == 0 ? text : "\(text), set by the configuration"
            }
            let end = limits.timetableUntil.map { " until \(TimeText.clock($0, now: now))" } ?? ""
            return "\(text), by the timetable\(end)"
        }
        return [
            entry(
                "max active",
                isAutomatic("max_active")
                    ? "automatic: 100 small, 6 large" : "\(limits.maxActive)" + origin("max_active")),
            entry(
                "max per host",
                isAutomatic("max_active_per_host")
                    ? "automatic: see xferctl hosts" : "\(limits.maxActivePerHost)" + origin("max_active_per_host")),
            entry("order", SafeText.sanitised(limits.order.description) + origin("order")),
            entry("max receive", rate(limits.maxReceiveRate, "max_recv_rate")),
            entry("max send", rate(limits.maxSendRate, "max_send_rate")),
        ]
    }

    func lines(_ host: HostRecord) -> [String] {
        [
            entry("host", HostText.places(host.host)),
            entry("connections", host.maxConnections.map { "at most \($0)" } ?? "automatic"),
            entry("per minute", host.requestsPerMinute.map { HostText.requests($0) } ?? "no limit of its own"),
        ]
    }

    func lines(_ status: DaemonStatus.Result) -> [String] {
        var health = "well"
        if let conflict = status.configurationConflicts?.first {
            health = style(.red, SafeText.sanitised(conflict))
        }
        if let problem = status.configurationProblem {
            health = style(.red, "the configuration file was not applied: \(SafeText.sanitised(problem))")
        }
        if let damaged = status.damagedRows, !damaged.isEmpty {
            let rows = DamagedRowText.list(damaged)
            health = style(.red, "damaged in the database: \(rows); xferctl doctor says what to do")
        }
        if status.degraded {
            let reason = SafeText.sanitised(status.degradedReason ?? "the database cannot be written")
            health = style(.red, "degraded: \(reason)")
        }
        if status.shuttingDown { health = style(.yellow, "shutting down") }
        let waiting = (status.keysWaitingForRestart ?? []).map { SafeText.sanitised($0) }
        var exceptions = (status.failingWebhooks ?? []).map {
            entry("webhook", style(.yellow, "fails: \(SafeText.sanitised($0))"))
        }
        if status.queuePaused == true { exceptions.append(entry("queue", style(.yellow, Self.paused(true)))) }
        let head = [
            entry(
                "xferd",
                "\(SafeText.sanitised(status.version)), process \(status.pid), up \(DurationText.short(status.uptime))"),
            entry("health", health),
        ]
        return head + exceptions + [
            entry("tasks", counts(status.counts)), entry("network", SafeText.sanitised(status.network.description)),
            entry("transferring", status.activity ? "yes" : "no"), entry("socket", SafeText.sanitised(status.socket)),
            entry("state in", SafeText.sanitised(status.stateDirectory)),
        ] + (waiting.isEmpty ? [] : [entry("restart", "needed by " + waiting.joined(separator: ", "))])
    }

    /// Every state that has tasks: `running 2, queued 17`.
    func counts(_ counts: StateCounts) -> String {
        let order: [TaskState] = [.running, .queued, .waiting, .paused, .staged, .completed, .failed, .cancelled]
        let parts = order.filter { counts[$0] > 0 }.map { state in
            style(StateStyle.attribute(state.rawValue), "\(state.rawValue) \(counts[state])")
        }
        return parts.isEmpty ? "none" : parts.joined(separator: ", ")
    }

    static func paused(_ isPaused: Bool) -> String { isPaused ? "paused: nothing new starts" : "open: tasks start" }

    private func entry(_ name: String, _ text: String) -> String { style(.bold, TextWidth.padded(name, to: 13)) + text }
}
