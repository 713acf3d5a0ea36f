import NIOConcurrencyHelpers
import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// Events that the real daemon sends to receivers.
@Suite struct WebhookTests {
    /// A receiver's answers, and what it accepted.
    private final class Receiver: Sendable {
        let server: FaultServer
        private let status = NIOLockedValueBox(200)

        init() async throws {
            server = try await FaultServer()
            server.onAnyOther { [status] _ in Reply(status.withLockedValue { $0 }, text: "") }
        }

        func answer(_ status: Int) { self.status.withLockedValue { $0 = status } }

        /// `{url: …}` for the configuration.
        func define(_ name: String, _ more: String = "") -> String {
            "{url: \"\(server.url("/\(name)"))\"\(more.isEmpty ? "" : ", " + more)}"
        }

        func requests(to name: String) -> [RecordedRequest] { server.requests(to: "/\(name)") }

        /// Requests that were answered with success.
        func accepted(by name: String) -> [RecordedRequest] {
            requests(to: name).filter { $0.status.map((200...299).contains) == true }
        }
    }

    private func body(_ request: RecordedRequest) throws -> JSONValue { try JSONValue(parsing: request.body) }

    /// Numbers of the events that were sent.
    private func seqs(_ requests: [RecordedRequest]) throws -> Set<Int64> {
        Set(try requests.compactMap { try body($0)["seq"]?.integerValue })
    }

    private func xferd(_ daemon: DaemonFixture, _ option: String) async throws -> Command.Result {
        try await Command.run(
            "\(Command.productsDirectory)/xferd", daemon.arguments + [option], environment: daemon.environment)
    }

    private func webhook(_ name: String, _ daemon: DaemonFixture) async throws -> JSONValue {
        let all = try await daemon.call("webhook.list")["webhooks"]?.arrayValue ?? []
        return try #require(all.first { $0["name"]?.stringValue == name })
    }

    /// The checks of a receiver, as the guide shows them, for files of headers and body in a directory.
    private static let verifier = """
        import json, pathlib, sys
        guide, directory = sys.argv[1:]
        text = pathlib.Path(guide).read_text()
        exec(text.split("```python\\n")[1].split("```")[0])
        for place in sorted(pathlib.Path(directory).glob("*.headers")):
            headers = json.loads(place.read_text())
            body = place.with_suffix(".body").read_bytes()
            print(verify(b"s3cret-of-mine", headers, body), verify(b"another", headers, body),
                verify(b"s3cret-of-mine", headers, body + b" "))
        """

    /// A receiver that is away while the daemon is killed again and again.
    @Test func everyEventReachesEveryWebhookAcrossAnOutageAndKills() async throws {
        let receiver = try await Receiver()
        receiver.server.serve("/f", .tagged(700, length: 2000))
        receiver.server.on("/missing") { _ in Reply(404, text: "") }
        let secret = "s3cret-of-mine"
        var options = DaemonFixture.Options(settings: ["log": ["level": "trace"]])
        options.environment = ["WEBHOOK_SECRET": secret]
        options.settings["webhooks"] = [
            "ends": receiver.define("ends", "secret: {env: WEBHOOK_SECRET}"),
            "adds": receiver.define("adds", "events: [task.added], filter: {groups: [watched]}"),
            "named": receiver.define("named", "events: []"),
        ]
        try await withDaemon(options) { daemon in
            receiver.answer(503)
            var random = SplitMix64(seed: 700)
            var named: Set<Int64> = []
            for round in 0..<6 {
                for index in 0..<3 {
                    var fields: JSONObject = ["output": .string("f\(round)-\(index)"), "max_retries": 0]
                    if index == 0 { fields["group"] = "watched" }
                    if index < 2 { fields["on_end"] = ["named"] }
                    let path = index == 2 ? "/missing?\(round)" : "/f"
                    let id = try await daemon.add(receiver.server.url(path), fields)
                    if index < 2 { named.insert(id) }
                }
                try await Campaign.elapse(.milliseconds(Int.random(in: 0..<150, using: &random)))
                await daemon.kill9()
                try await daemon.start()
            }
            // Every task ends while the receiver is away.
            try await eventually("all tasks have ended", within: Patience.long) {
                let ended = try await daemon.events(types: "task.completed", "task.failed")
                return ended.count >= 18
            }
            try await eventually("the outage is seen") {
                try await webhook("ends", daemon)["last_failure"]?.stringValue?.contains("503") == true
            }
            #expect(try await webhook("ends", daemon)["pending"]?.integerValue == 18)
            try await expectNoTrace(in: daemon, tasks: 18)
            await daemon.kill9()
            receiver.answer(204)
            try await daemon.start()
            for _ in 0..<2 {
                try await Campaign.elapse(.milliseconds(Int.random(in: 0..<400, using: &random)))
                await daemon.kill9()
                try await daemon.start()
            }
            try await eventually("all are delivered", within: Patience.long) {
                let all = try await daemon.call("webhook.list")["webhooks"]?.arrayValue ?? []
                return all.allSatisfy { $0["pending"] == 0 }
            }
            let ends = try await daemon.events(types: "task.completed", "task.failed")
            let adds = try await daemon.events(types: "task.added")
            let watched = adds.filter { $0["group"]?.stringValue == "watched" }
            let ofNamed = ends.filter { $0["task_id"]?.integerValue.map(named.contains) == true }
            for (name, events) in [("ends", ends), ("adds", watched), ("named", ofNamed)] {
                let wanted = Set(events.compactMap { $0["seq"]?.integerValue })
                #expect(try seqs(receiver.accepted(by: name)) == wanted, "\(name)")
                #expect(try seqs(receiver.requests(to: name)) == wanted, "\(name)")
                // A repetition has the key and the body of the first try, and no other event has that key.
                let byKey = Dictionary(grouping: receiver.requests(to: name)) { $0.header("Idempotency-Key") }
                #expect(byKey.count == wanted.count, "\(name)")
                for (key, requests) in byKey {
                    #expect(Set(requests.map(\.body)).count == 1 && key?.hasSuffix("-\(name)\"") == true, "\(name)")
                }
                for request in receiver.accepted(by: name) {
                    // The body is the event, as events.since gives it.
                    let event = try body(request)
                    #expect(events.contains(event), "\(event.text)")
                }
            }
            #expect(receiver.requests(to: "ends").count > ends.count, "something was repeated")
            try await expectVerified(receiver.accepted(by: "ends"), daemon)
            #expect(receiver.requests(to: "named").allSatisfy { $0.header("X-Xfer-Signature") == nil })
            try await expectNoTrace(in: daemon, tasks: 18)
            for name in try FileTree.entries(below: daemon.stateDirectory) where !name.hasSuffix("/") {
                let isThere = try FileTree.text("\(daemon.stateDirectory)/\(name)").contains(secret)
                #expect(!isThere, "the secret is in \(name)")
            }
            #expect(!daemon.log.contains(secret))
        }
    }

    /// The guide's own lines accept the requests, and nothing that was changed.
    private func expectVerified(_ requests: [RecordedRequest], _ daemon: DaemonFixture) async throws {
        guard let python = Command.find("python3") else { return }
        let place = try TemporaryDirectory("webhook")
        for (index, request) in requests.enumerated() {
            var headers = JSONObject()
            for field in request.headers { headers[field.name] = .string(field.value) }
            try FileTree.write(JSONValue.object(headers).text, to: place.file("\(index).headers"))
            try FileTree.write(request.body, to: place.file("\(index).body"))
        }
        let guide = #filePath.split(separator: "/").dropLast(4).reduce("") { "\($0)/\($1)" } + "/docs/guide/webhooks.md"
        let ended = try await Command.run(python, ["-c", Self.verifier, guide, place.path])
        let lines = ended.output.split(separator: "\n")
        #expect(ended.isSuccess && lines.count == requests.count, "\(ended)")
        #expect(lines.allSatisfy { $0 == "True False False" }, "\(ended)")
    }

    /// No listing, count, event or metric of tasks has anything of a delivery.
    private func expectNoTrace(in daemon: DaemonFixture, tasks: Int64) async throws {
        let listed = try await daemon.call("task.list", ["filter": ["all": true], "limit": 1000])
        #expect(listed["tasks"]?.arrayValue?.count == Int(exactly: tasks))
        let stats = try await daemon.call("queue.stats")
        let counted = stats["counts"]?.objectValue?.members.compactMap { $0.value.integerValue } ?? []
        #expect(counted.reduce(0, +) == tasks && !stats.text.contains("webhook"), "\(stats.text)")
        let groups = try await daemon.call("group.list")
        #expect(!groups.text.contains("webhook"), "\(groups.text)")
        for event in try await daemon.events() {
            #expect(event["type"]?.stringValue?.contains("webhook") == false)
            let url = event["url"]?.stringValue ?? ""
            #expect(!url.hasSuffix("/ends") && !url.hasSuffix("/named"), "\(event.text)")
        }
    }

    @Test func aTestReportsTheResponseAndTheListShowsTheReceiver() async throws {
        let receiver = try await Receiver()
        var options = DaemonFixture.Options()
        options.settings["webhooks"] = [
            "deploy": "{url: \"\(receiver.server.url("/deploy?token=geheim"))\", filter: {owners: [root]}}"
        ]
        try await withDaemon(options) { daemon in
            let accepted = try await daemon.ctl("webhook", "test", "deploy")
            #expect(accepted.isSuccess && accepted.output.hasPrefix("deploy: accepted with 200 ("), "\(accepted)")
            receiver.answer(403)
            let refused = try await daemon.ctl("webhook", "test", "deploy")
            #expect(refused.exit == .code(1) && refused.output.contains("answered 403"), "\(refused)")
            let unknown = try await daemon.ctl("webhook", "test", "other")
            #expect(unknown.exit == .code(3) && unknown.errors.contains("there is no webhook \"other\""), "\(unknown)")
            #expect(receiver.server.requests.allSatisfy { $0.target == "/deploy?token=geheim" })
            let listed = try await webhook("deploy", daemon)
            #expect(listed["url"]?.stringValue?.hasSuffix("/deploy?token=***") == true)
            #expect(listed["pending"] == 0 && listed["signed"] == false && listed["filter"]?["owners"] == ["0"])
            let shown = try await daemon.ctl("webhook")
            #expect(shown.isSuccess && shown.output.contains("deploy") && !shown.output.contains("geheim"), "\(shown)")
            #expect(!daemon.log.contains("geheim"))
            let printed = try await xferd(daemon, "--print-config")
            #expect(printed.output.contains("token=***"), "\(printed)")
        }
    }

    @Test func aReloadAddsAndRemovesWebhooks() async throws {
        let receiver = try await Receiver()
        var options = DaemonFixture.Options()
        options.settings["webhooks"] = ["old": receiver.define("old", "events: [task.added]")]
        try await withDaemon(options) { daemon in
            receiver.answer(500)
            _ = try await daemon.add(receiver.server.url("/f"), ["paused": true])
            try await eventually("the receiver refuses") { !receiver.requests(to: "old").isEmpty }
            try daemon.configure(["webhooks": ["new": receiver.define("new", "events: [task.added]")]])
            daemon.reload()
            try await eventually("the deliveries of the old one end") {
                daemon.log.contains("their webhook is no longer configured")
            }
            receiver.answer(200)
            let id = try await daemon.add(receiver.server.url("/f"), ["paused": true])
            try await eventually("the new one gets the event") { !receiver.accepted(by: "new").isEmpty }
            #expect(try receiver.accepted(by: "new").map { try body($0)["task_id"] } == [.integer(id)])
            #expect(receiver.accepted(by: "old").isEmpty)
            // A faulty one changes nothing, and is named by its place.
            try FileTree.write(
                "webhooks:\n  new:\n    url: http://h.test/\n    events: [task.done]\n", to: daemon.configurationFile)
            let check = try await xferd(daemon, "--check-config")
            #expect(check.exit == .code(2), "\(check)")
            #expect(check.errors.contains("config.yaml:4:14: webhooks: new.events[0]"), "\(check)")
        }
    }

    @Test(.enabled(if: Guest.isPossible, "needs root and setpriv"))
    func guestsMayNameOnlyWebhooksReleasedForGuests() async throws {
        let receiver = try await Receiver()
        var options = DaemonFixture.Options()
        options.settings["webhooks"] = [
            "mine": receiver.define("mine", "events: []"),
            "theirs": receiver.define("theirs", "events: [], guests: true"),
        ]
        try await withGuest(options) { _, guest in
            let url = JSONValue.string(receiver.server.url("/data"))
            let refused = try await guest.call("task.add", ["url": url, "kind": "data", "on_end": ["mine"]])
            #expect(refused.result == nil && refused.error.contains("on_end[0]"), "\(refused.error)")
            let id = try await guest.add(["url": url, "kind": "data", "on_end": ["theirs"]])
            try await eventually("the end is delivered") { !receiver.accepted(by: "theirs").isEmpty }
            let event = try body(receiver.accepted(by: "theirs")[0])
            #expect(event["task_id"] == .integer(id) && event["type"] == "task.completed")
            #expect(event["owner"] == .integer(guest.uid))
            #expect(try await guest.call("webhook.list").result == nil)
            #expect(try await guest.call("webhook.test", ["name": "theirs"]).result == nil)
            let listed = try await guest.call("task.list", ["filter": ["all": true]])
            #expect(listed.result?["tasks"]?.arrayValue?.count == 1)
            #expect(receiver.requests(to: "mine").isEmpty)
        }
    }
}
