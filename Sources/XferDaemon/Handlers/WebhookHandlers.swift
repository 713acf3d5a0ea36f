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
                    PageText.named(try await webhooks.list(), params, as: WebhookList.Result.self, name: \.name) { $0 }
                }),
            Handler(WebhookTest.self) { params, _ in try await webhooks.test(params.name) },
        ]
    }
}
