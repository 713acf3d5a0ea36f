import StrictJSON
import XferManager
import XferModel
import XferProtocol

/// `webhooks`: a mapping of names to webhooks.
extension SettingForm where Value == [Settings.Webhook] {
    private static let expectation = "a mapping of names to webhooks, each a mapping with url, events, secret, filter"
    private static let place = RecordForm<SecretReference>(quotesScalars: false)

    /// The form of a record. A secret itself is refused here: only its place is allowed, and the error does not contain
    /// the refused value.
    private static let record = RecordForm<WebhookInput>(
        keyedBy: "name", quotesScalars: false,
        readers: [
            "secret": { node, context throws(SettingMismatch) in
                guard case .mapping = node.content else {
                    throw SettingMismatch(
                        "expected the secret's place: a mapping with file, systemd or env", at: node)
                }
                return try place.read(node, context).wire
            }
        ])

    /// A type, a slash, a subtype and optional parameters, without characters that could end the field.
    private static func isMediaType(_ text: String) -> Bool {
        let parts = text.prefix { $0 != ";" }.split(separator: "/", omittingEmptySubsequences: false)
        return parts.count == 2 && parts.allSatisfy { !$0.isEmpty }
            && text.unicodeScalars.allSatisfy { (0x20...0x7E).contains($0.value) }
    }

    static let webhooks = SettingForm(expected: expectation, isScalar: false, fields: record.fields) {
        node, context throws(SettingMismatch) in
        try record.readAll(node, context, expected: expectation) { member, input throws(SettingMismatch) in
            try DefinitionName.check(member.key, of: "a webhook")
            let url: HTTPURL
            do throws(WebhookTextError) {
                url = try WebhookText.url(input.url)
            } catch {
                throw record.mismatch("url", error.description, member.value, at: member.key)
            }
            var definition = WebhookDefinition(
                name: input.name, url: url, filter: WebhookFilter(groups: input.filter?.groups.map { Set($0) }),
                secret: input.secretPlace, isForGuests: input.guests)
            definition.filter.labels = input.filter?.labels.map { Set($0) }
            if let events = input.events { definition.events = Set(events) }
            if definition.events.contains(.webhookDiscarded) {
                throw record.mismatch(
                    "events", "no webhook gets webhook.discarded, which is about deliveries", member.value,
                    at: member.key)
            }
            (definition.template, definition.contentType) = (input.template, input.contentType)
            if let template = input.template {
                do throws(WebhookTextError) {
                    _ = try WebhookTemplate(template, contentType: input.contentType)
                } catch {
                    throw record.mismatch("template", error.description, member.value, at: member.key)
                }
            }
            definition.batch = input.batch ?? 1
            if definition.isBatched, input.template != nil {
                throw record.mismatch(
                    "batch", "not possible with a template: the body is an array of events", member.value,
                    at: member.key)
            }
            if let type = input.contentType, !isMediaType(type) || input.template == nil {
                throw record.mismatch(
                    "content_type", "expected a media type such as text/plain, together with a template", member.value,
                    at: member.key)
            }
            return Settings.Webhook(definition: definition, owners: input.filter?.owners)
        }
    } write: { webhooks in
        record.writeAll(webhooks.map { ($0.definition.name, WebhookInput($0)) })
    }
}

extension WebhookInput {
    /// Secrets in the URL are masked, so that --print-config does not show them.
    fileprivate init(_ webhook: Settings.Webhook) {
        self.init()
        let definition = webhook.definition
        name = definition.name
        url = Redaction.url(definition.url.string)
        if definition.events != WebhookDefinition.ends {
            events = EventType.allCases.filter(definition.events.contains)
        }
        secret = definition.secret.flatMap { SecretReference($0) }
        var filter = WebhookFilterRecord(definition.filter)
        filter.owners = webhook.owners
        self.filter = filter.isEmpty ? nil : filter
        guests = definition.isForGuests
        (template, contentType) = (definition.template, definition.contentType)
        batch = definition.isBatched ? definition.batch : nil
    }
}

extension Settings.Webhook {
    /// The webhook with the users of its filter looked up, by name or decimal uid. A user who does not exist is
    /// ignored.
    func resolved(by accounts: AccountDirectory = .system) -> WebhookDefinition {
        var definition = definition
        definition.filter.owners = owners.map { names in
            Set(names.compactMap { accounts.owner($0) })
        }
        return definition
    }
}

extension AccountDirectory {
    /// The user of this name or decimal uid.
    func owner(_ name: String) -> Owner? { (uid(name) ?? UInt32(name, radix: 10)).map { Owner(uid: $0) } }
}
