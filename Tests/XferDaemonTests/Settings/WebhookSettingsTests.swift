import Testing
import XferModel

@testable import XferDaemon

@Suite struct WebhookSettingsTests {
    private static let url = HTTPURL(scheme: .https, host: "ci.test", port: 443, target: "/hook?token=geheim")

    @Test func webhooksAreReadAndPrinted() throws {
        let loaded = try load(
            """
            webhooks:
              deploy:
                url: https://ci.test/hook
                events: [task.completed, queue.idle]
                secret: { file: ~/secret }
                filter: { groups: [nightly, "7"], labels: [a], owners: [ann, 1000] }
                guests: true
              all: { url: "https://ci.test/hook", secret: { systemd: token } }
              named: { url: "https://ci.test/hook", batch: 100, events: [], secret: { env: TOKEN } }
              chat: { url: "https://ci.test/hook", template: '{"text": "{title}"}', content_type: application/json }
            """)
        let webhooks = loaded.settings.webhooks
        #expect(webhooks.map(\.definition.name) == ["deploy", "all", "named", "chat"])
        #expect(webhooks[3].definition.template == #"{"text": "{title}"}"#)
        #expect(webhooks[3].definition.contentType == "application/json" && webhooks[0].definition.template == nil)
        let deploy = try #require(webhooks.first)
        #expect(deploy.definition.url.string == "https://ci.test/hook" && deploy.definition.isForGuests)
        #expect(deploy.definition.events == [.taskCompleted, .queueIdle])
        #expect(deploy.definition.secret == .file("/home/ann/secret"))
        #expect(deploy.definition.filter == WebhookFilter(groups: ["nightly", "7"], labels: ["a"]))
        #expect(deploy.owners == ["ann", "1000"])
        #expect(webhooks[1].definition.events == [.taskCompleted, .taskFailed, .taskCancelled, .taskSuperseded])
        #expect(webhooks[1].definition.secret == .systemdCredential("token") && !webhooks[1].definition.isForGuests)
        #expect(webhooks[2].definition.events == [] && webhooks[2].definition.secret == .environment("TOKEN"))
        #expect(webhooks.map(\.definition.batch) == [1, 1, 100, 1])
        // What is printed can be read again.
        #expect(try load(loaded.yaml).settings.webhooks == webhooks)
        #expect(try load("webhooks:").settings.webhooks == [])
    }

    @Test func printedWebhooksMaskSecretsInTheirURLs() throws {
        let loaded = try load("webhooks: { a: { url: 'https://ci.test/hook?token=geheim&x=y' } }")
        #expect(loaded.settings.webhooks.first?.definition.url.target == "/hook?token=geheim&x=y")
        #expect(!loaded.yaml.contains("geheim") && loaded.yaml.contains("token=***"))
    }

    @Test(arguments: [
        ("webhooks: [a]", "/c.yaml:1:11"), ("webhooks: { a: }", "url is missing"),
        ("webhooks: { a: { events: [] } }", "url is missing"),
        ("webhooks:\n  a:\n    url: ftp://h.test/", "/c.yaml:3:10: webhooks: a.url"),
        ("webhooks: { a: { url: nonsense } }", "a.url"),
        ("webhooks: { a: { url: 'https://ann:hunter2@h.test/' } }", "a.url: user info"),
        (
            "webhooks:\n  a: { url: 'http://h.test/', secret: hunter2 }",
            "/c.yaml:2:39: webhooks: a.secret: expected the secret's place"
        ),
        ("webhooks: { a: { url: 'http://h.test/', secret: { file: relative } } }", "a.secret.file"),
        ("webhooks: { a: { url: 'http://h.test/', secret: { file: /a, env: B } } }", "exactly one of"),
        ("webhooks: { a: { url: 'http://h.test/', secret: { value: hunter2 } } }", "a.secret.value"),
        ("webhooks:\n  a:\n    url: http://h.test/\n    events: [task.done]", "/c.yaml:4:14: webhooks: a.events[0]"),
        ("webhooks: { a: { url: 'http://h.test/', events: [task.progress] } }", "a.events[0]"),
        ("webhooks: { a: { url: 'http://h.test/', events: [webhook.discarded] } }", "is about deliveries"),
        ("webhooks: { a: { url: 'http://h.test/', filter: { hosts: [b] } } }", "hosts"),
        ("webhooks: { a: { url: 'http://h.test/', filter: { groups: [] } } }", "1 to 64"),
        ("webhooks: { a: { url: 'http://h.test/', method: PUT } }", "method"),
        ("webhooks: { a: { url: 'http://h.test/', guests: maybe } }", "guests"),
        ("webhooks: { a: { url: 'http://h.test/', template: '{colour}' } }", "there is no field {colour}"),
        ("webhooks: { a: { url: 'http://h.test/', content_type: text/plain } }", "together with a template"),
        ("webhooks: { a: { url: 'http://h.test/', template: x, content_type: plain } }", "a media type"),
        ("webhooks: { a: { url: 'http://h.test/', batch: 0 } }", "batch"),
        ("webhooks: { a: { url: 'http://h.test/', batch: 501 } }", "batch"),
        ("webhooks: { a: { url: 'http://h.test/', batch: 2, template: x } }", "not possible with a template"),
        ("webhooks: { 'a b': { url: 'http://h.test/' } }", "a webhook's name"),
    ])
    func aFaultyWebhookIsNamedInTheErrorWithoutItsSecrets(yaml: String, part: String) throws {
        let problem = try #require(try problems(of: yaml).first)
        #expect(problem.contains("webhooks") && problem.contains(part), "\(problem)")
        #expect(!problem.contains("hunter2"), "\(problem)")
    }

    @Test func usersOfAFilterAreLookedUp() {
        let accounts = AccountDirectory(uid: { ["ann": 1000][$0] }, gid: { _ in nil })
        let definition = WebhookDefinition(name: "a", url: Self.url)
        func owners(_ names: [String]?) -> Set<Owner>? {
            Settings.Webhook(definition: definition, owners: names).resolved(by: accounts).filter.owners
        }
        #expect(owners(nil) == nil)
        #expect(owners(["ann", "1001", "bob"]) == [Owner(uid: 1000), Owner(uid: 1001)])
        // The filter of a user who does not exist admits nothing, not everything.
        #expect(owners(["bob"]) == [])
    }
}
