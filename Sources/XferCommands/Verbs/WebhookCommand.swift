import ArgumentParser
import XferModel
import XferProtocol

/// `xferctl webhook`: the `webhook.*` methods.
struct WebhookCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "webhook", abstract: "List and test the receivers of events.",
        discussion: """
            Webhooks are written in the daemon's configuration, under `webhooks`. Tasks can name them with --on-end of \
            `xferctl add`, too.
            """,
        subcommands: [List.self, Test.self], defaultSubcommand: List.self)

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "list", abstract: "List them with the state of their deliveries.")

        @OptionGroup var options: VerbOptions

        func run() throws {
            options.show(try options.open().all(WebhookList.self)) { result, terminal in
                WebhookText(style: terminal.style).lines(result.webhooks, terminal)
            }
        }
    }

    struct Test: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "test",
            abstract: "Send a test event to a receiver.",
            discussion: "The event has the type webhook.test, is signed like a delivery, and is sent once.")

        @Argument(help: ArgumentHelp("Name of the webhook.", valueName: "name"))
        var name: String

        @OptionGroup var options: VerbOptions

        func run() throws {
            let answer = try options.open().call(WebhookTest.self, WebhookTest.Params(name: name))
            options.show(answer) { result, _ in [WebhookText.line(result, of: name)] }
            if !answer.value.accepted { throw CommandFailure(.taskFailed) }
        }
    }
}

/// Webhooks in words.
struct WebhookText: Sendable {
    let style: Style

    static func line(_ result: WebhookTest.Result, of name: String) -> String {
        let name = SafeText.sanitised(name)
        let milliseconds = Int64(exactly: (result.duration * 1000).rounded()) ?? 0
        guard result.accepted else {
            return "\(name): not accepted: \(SafeText.sanitised(result.failure ?? "")) (\(milliseconds) ms)"
        }
        return "\(name): accepted with \(result.status ?? 0) (\(milliseconds) ms)"
    }

    func lines(_ webhooks: [WebhookRecord], _ terminal: Terminal) -> [String] {
        var table = Table(columns: [
            .init(title: "NAME"), .init(title: "GUESTS"), .init(title: "PENDING", alignment: .right),
            .init(title: "FAILED", alignment: .right), .init(title: "DELIVERED"), .init(title: "EVENTS"),
            .init(title: "URL", isFlexible: true),
        ])
        for webhook in webhooks {
            table.rows.append([
                Table.Cell(webhook.name, webhook.pausedUntil == nil ? nil : .yellow),
                Table.Cell(webhook.guests ? "yes" : "no"), Table.Cell("\(webhook.pending)"),
                Table.Cell("\(webhook.failed)", webhook.failed > 0 ? .red : nil),
                Table.Cell(webhook.lastDeliveredAt.map { TimeText.local($0) } ?? "never"),
                Table.Cell(events(webhook)), Table.Cell(webhook.url),
            ])
        }
        return table.lines(on: terminal, orElse: "no webhooks are configured") + webhooks.compactMap(trouble)
    }

    private func events(_ webhook: WebhookRecord) -> String {
        let types = webhook.events.map(\.description)
        if types.isEmpty { return "on_end" }
        if Set(types) == Set(WebhookDefinition.ends.map(\.rawValue)) { return "ends" }
        return types.count > 3 ? "\(types.count) types" : types.joined(separator: " ")
    }

    /// The reason why nothing is delivered now; nil if there is none.
    private func trouble(_ webhook: WebhookRecord) -> String? {
        guard let reason = webhook.lastFailure, let failedAt = webhook.lastFailedAt,
            failedAt > webhook.lastDeliveredAt ?? Timestamp(microseconds: .min)
        else { return nil }
        let next = webhook.pausedUntil.map { "next attempt \(TimeText.local($0)); " } ?? ""
        return SafeText.sanitised("\(webhook.name): \(next)failed \(TimeText.local(failedAt)): \(reason)")
    }
}
