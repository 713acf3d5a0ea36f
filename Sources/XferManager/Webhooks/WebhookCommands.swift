import NIOConcurrencyHelpers
import StrictJSON
import XferCore
import XferModel
public import XferProtocol
import XferStore
import XferSystem

/// Shows and tests the operator's webhooks.
public struct WebhookCommands: ManagerPart, Sendable {
    let context: ManagerContext

    /// All webhooks by name.
    ///
    /// - Throws: `ManagerError`.
    public func list() async throws -> [WebhookRecord] {
        let (definitions, now) = (sorted, clock())
        return try await translatingStoreErrors {
            try await store.read { reader in
                try definitions.map { definition in
                    let receiver = try reader.deliveries.receiverState(ofWebhook: definition.name)
                    let counts = try reader.deliveries.counts(of: definition.name)
                    var record = WebhookRecord(definition)
                    record.pending = counts.pending
                    record.failed = counts.failed
                    record.lastDeliveredAt = receiver.lastDeliveredAt
                    record.lastFailedAt = receiver.lastFailedAt
                    record.lastFailure = receiver.lastFailure
                    record.pausedUntil = receiver.pausedUntil.flatMap { $0 > now && counts.pending > 0 ? $0 : nil }
                    return record
                }
            }
        }
    }

    /// Sends a test event once and waits for the answer.
    ///
    /// - Throws: `ManagerError`.
    public func test(_ name: String) async throws -> WebhookTest.Result {
        guard !isShuttingDown else { throw ManagerError.shuttingDown }
        let definitions = sorted
        guard let definition = definitions.first(where: { $0.name == name }) else {
            throw ManagerError.invalidField(
                path: "name", reason: "there is no webhook \"\(name)\"",
                expected: definitions.isEmpty
                    ? "a name from webhooks in the configuration, which has none"
                    : "one of \(definitions.map(\.name).joined(separator: ", "))")
        }
        let body: JSONValue = [
            "time": clock().wire, "type": "webhook.test", "webhook": .string(name),
        ]
        let number = String(UInt64.random(in: .min ... .max), radix: 16)
        let run = WebhookRun(
            definition, key: "\(store.storeID)-test-\(number)-\(name)", events: [body.text], services: services,
            settings: settings)
        let begunAt = Clocks.monotonic()
        let answer = await run.run()
        let duration = begunAt.duration(to: Clocks.monotonic())
        let failure = answer.failure(from: definition.url, at: clock())
        return WebhookTest.Result(
            accepted: failure == nil, status: answer.status, duration: Double(duration.wholeMicroseconds) / 1_000_000,
            failure: failure)
    }

    private var sorted: [WebhookDefinition] {
        context.settings.withLockedValue(\.webhooks).sorted { $0.name < $1.name }
    }
}

extension Event {
    /// The event as its webhooks get it: its form on the wire as JSON text, without secrets.
    var webhookBody: String { EventMessage(self).wire.text }
}
