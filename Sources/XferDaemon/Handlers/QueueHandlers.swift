import XferManager
import XferModel
import XferProtocol

/// Handles `queue.*`: decodes, authorises, calls and encodes.
struct QueueHandlers: Sendable {
    let queue: QueueControl

    var all: [Handler] {
        [
            Handler(QueueStats.self) { _, context in try await queue.stats(for: context.caller.principal) },
            Handler(QueuePause.self, pause), Handler(QueueResume.self, resume),
            Handler(QueueSetLimits.self, setLimits),
            Handler(QueueHosts.self, hosts), Handler(QueueSetHost.self, setHost),
        ]
    }

    private func pause(_ params: QueuePause.Params, _: CallContext) async throws -> QueuePause.Result {
        try await queue.pause(stopsRunning: params.running)
        return QueuePause.Result(paused: true)
    }

    private func resume(_ params: QueueResume.Params, _: CallContext) async throws -> QueuePause.Result {
        try await queue.resume(liftsWaits: params.now)
        return QueuePause.Result(paused: false)
    }

    private func setLimits(
        _ params: QueueSetLimits.Params, _ context: CallContext
    ) async throws -> QueueSetLimits.Result {
        try await queue.setLimits { limits in
            limits.maxActive = params.maxActive.applied(to: limits.maxActive)
            limits.maxActivePerHost = params.maxActivePerHost.applied(to: limits.maxActivePerHost)
            limits.order = params.order.applied(to: limits.order)
            limits.maxReceiveRate = params.maxReceiveRate.applied(to: limits.maxReceiveRate)
            limits.maxSendRate = params.maxSendRate.applied(to: limits.maxSendRate)
        }
        return QueueSetLimits.Result(limits: try await queue.stats(for: context.caller.principal).limits)
    }
}

extension QueueHandlers {
    private func hosts(_: NoParams, _: CallContext) async throws -> QueueHosts.Result {
        QueueHosts.Result(hosts: await queue.hosts())
    }

    private func setHost(_ params: QueueSetHost.Params, _: CallContext) async throws -> QueueSetHost.Result {
        let host = try await queue.setLimits(
            ofHost: params.host, connections: params.connections, requestsPerMinute: params.requestsPerMinute)
        return QueueSetHost.Result(host: await queue.host(host))
    }
}
