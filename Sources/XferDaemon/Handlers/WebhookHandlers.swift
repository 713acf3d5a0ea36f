import XferManager
import XferModel
import XferProtocol

/// Handles `webhook.*`: calls and encodes.
struct WebhookHandlers: Sendable {
    let webhooks: WebhookCommands

    var all: [Handler] {
        [
            Handler(
                WebhookList.self,
                encoding: { params, _, _ in
                    PageText.named(
                        try await webhooks.list(), params, as: WebhookList.Result.self, name: \.definition.name
                    ) {
                        WebhookRecord($0)
                    }
                }),
            Handler(WebhookTest.self) { params, _ in
                let result = try await webhooks.test(params.name)
                return WebhookTest.Result(
                    accepted: result.failure == nil, status: result.status, duration: result.duration,
                    failure: result.failure)
            },
        ]
    }
}

extension WebhookRecord {
    fileprivate init(_ status: WebhookCommands.Status) {
        self.init(status.definition)
        pending = status.pending
        failed = status.failed
        lastDeliveredAt = status.lastDeliveredAt
        lastFailedAt = status.lastFailedAt
        lastFailure = status.lastFailure
        pausedUntil = status.pausedUntil
    }
}
