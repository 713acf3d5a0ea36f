import NIOConcurrencyHelpers
import XferCore
import XferModel
import XferSystem

/// Conclusions from the ends of requests about their origins, and from transfers about their kinds.
extension RunScheduler {
    /// Records that the last byte of a transfer has arrived. The meaning of an exchange's answer is known at its end.
    func recordBody(of id: TransferID) {
        guard let task = transfers[id]?.tasks.first, let live = runs[task] else { return }
        if live.control.progress.kind == .download {
            let answer = OriginWindow.Outcome.answered(
                live.control.trace, of: live.host, bytes: live.control.progress.received)
            machine.record(answer, of: id, at: Clocks.monotonic())
        } else {
            table.transfers[id]?.ticket = machine.detachTicket(of: id)
        }
    }

    /// Records that a run has ended. Returns true if its host has refused it because of others that were under way, so
    /// that the task repeats its request once fewer are.
    ///
    /// - Parameter othersOfHost: see `Refusal.meaning`.
    func recordOrigin(of id: TaskID, _ result: RunResult, othersOfHost: Int) -> Bool {
        guard let live = runs[id], !table.isContinuedByOthers(live, result) else { return false }
        let now = Clocks.monotonic()
        let outcome = OriginWindow.Outcome.of(live, result, othersOfHost: othersOfHost)
        if let ticket = transfers[live.transfer]?.ticket {
            table.transfers[live.transfer]?.ticket = nil
            table.transfers[live.transfer]?.isBackedOff = machine.origins.end(live.host, ticket, outcome, at: now)
        } else if machine.record(outcome, of: live.transfer, at: now) {
            table.transfers[live.transfer]?.isBackedOff = true
        }
        // 403 may be about the file alone: it waits as `Refusal.fewerAtOnce`.
        guard case .refused(requestsWait: false) = outcome, !result.isForbidden,
            machine.limits.maxActivePerHost == nil, transfers[live.transfer]?.isBackedOff == true
        else {
            refusals.forgetBackOffs(of: id)
            return false
        }
        return refusals.backOff(id)
    }

    /// Distinguishes small transfers from large ones, and from those that only connect.
    func classifyTransfers() {
        guard machine.limits.maxActive == nil else { return }
        let now = Clocks.monotonic()
        var hasChanged = false
        for (id, live) in table.oldestRuns {
            let progress = live.control.progress
            let kind = TransferMix.kind(
                isConnecting: progress.phase == .connecting && progress.sent == 0, length: progress.total,
                age: live.begunAt.duration(to: now))
            if machine.classify(id, as: kind) { hasChanged = true }
        }
        if hasChanged { schedule() }
    }

    /// Returns large transfers to the queue if too many are running; see `TransferMix.surplus`.
    func returnSurplus() async {
        guard machine.limits.maxActive == nil, machine.mix.hasSurplus else { return }
        let (now, youth) = (Clocks.monotonic(), context.settings.withLockedValue(\.largeYouth))
        let large = table.largeTransfers(where: { machine.kind(of: $0) == .large }, at: now, youth: youth)
        for id in TransferMix.surplus(of: large) {
            if let task = transfers[id]?.tasks.first, let live = runs[task] { await live.stop() }
        }
    }

    /// The earliest time at which a host's limit per minute allows its next request; nil if no host is at its limit.
    var pacedWakeUp: Timestamp? {
        machine.origins.earliestPaced.map { clock().advanced(by: Clocks.monotonic().duration(to: $0)) }
    }
}

extension RunResult {
    fileprivate var isForbidden: Bool {
        guard case .failed(let error) = end else { return false }
        return error.httpStatus == 403
    }
}

extension OriginWindow.Outcome {
    /// The outcome of the request of a run that has ended.
    ///
    /// - Parameter othersOfHost: see `Refusal.meaning`.
    static func of(_ live: LiveRun, _ result: RunResult, othersOfHost: Int) -> Self {
        let trace = live.control.trace
        guard case .failed(let error) = result.end else {
            return .answered(trace, of: live.host, bytes: live.control.progress.received)
        }
        guard error.proxy == nil, error.host.map({ $0 == live.host }) ?? true else { return .other }
        if let status = error.httpStatus {
            switch status {
            case 429, 503: return .refused(requestsWait: (error.retryAfter ?? 0) > 0)
            case 403 where othersOfHost > 0: return .refused(requestsWait: false)
            default: return .answered(trace, of: live.host, bytes: 0)
            }
        }
        // After a head the origin is there.
        guard trace?.httpVersion == nil else { return .other }
        return switch error.reason {
        case .connectTimeout, .idleTimeout, .dnsFailure: .silent
        case .connectFailed, .connectionLost: .broken
        default: .other
        }
    }

    /// An answer as the engine has traced it; without a trace nothing was requested. After redirects the address is
    /// another host's.
    static func answered(_ trace: AttemptTrace?, of host: String, bytes: Int64) -> Self {
        guard let trace, let version = trace.httpVersion else { return .other }
        let connected = trace.isReused ? 0 : max(trace.times.connect ?? 0, trace.times.tls ?? 0)
        return .answered(
            OriginWindow.Answer(
                http: version.hasPrefix("HTTP/2") ? .http2 : .http1, connection: trace.localPort,
                isReused: trace.isReused,
                latency: trace.times.firstByte.map { .microseconds(max(0, $0.subtractingSaturated(connected))) },
                bytes: bytes, address: trace.addressedHost == host ? trace.address : nil))
    }
}

extension TransferMix {
    /// The kind of a task that starts, from an earlier attempt.
    static func kind(of task: TransferTask) -> Kind {
        kind(isConnecting: false, length: task.total ?? 0, age: .zero)
    }
}
