import Glibc
import StrictJSON
import Testing
import XferProtocol
import XferTestSupport

/// Every field of a new task, of `task.update` and of a profile, with a value that is not its default.
@Suite struct EveryFieldTests {
    /// A field's value, the fields that it needs beside it, and the part of the task's record that shows it.
    private struct Sample {
        let value: JSONValue
        let companions: JSONObject
        let shown: JSONObject?

        /// Without `shown` the record has the field with the same value.
        init(_ value: JSONValue, with companions: JSONObject = [:], shown: JSONObject? = nil) {
            (self.value, self.companions, self.shown) = (value, companions, shown)
        }

        func record(of name: String) -> JSONObject { shown ?? [name: value] }
    }

    private static let url = "https://walk.test/x"
    private static let file = "/sent.bin"
    private static let digest = "sha-256=9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"

    private static func samples(in directory: String) -> [String: Sample] {
        let upload: JSONObject = ["kind": "upload", "source": .string(directory + file)]
        let tus: JSONObject = ["kind": "upload", "source": .string(directory + file), "upload": "tus"]
        let later: JSONValue = "2040-01-02T22:00:00.000Z"
        let mirrors: JSONValue = ["https://walk.test/a", "https://walk.test/b"]
        let masked: JSONObject = ["credential": ["user": "***", "password": "***"]]
        return [
            "url": Sample("https://walk.test/other"),
            "urls": Sample(mirrors),
            "kind": Sample("data"),
            "method": Sample("HEAD", with: ["kind": "data"]),
            "headers": Sample(["X-A": "b"]),
            "params": Sample(["q": "x"], shown: ["url": "https://walk.test/x?q=x"]),
            "body": Sample(["raw": "x"], with: ["kind": "data"], shown: ["body": ["form": "inline", "length": 1]]),
            "parts": Sample(
                [["name": "a", "data": "x"]], with: ["kind": "upload"], shown: ["body": ["form": "parts"]]),
            "source": Sample(.string(directory + file), with: ["kind": "upload"]),
            "upload": Sample("tus", with: upload),
            "spool": Sample(true, with: upload),
            "chunk_size": Sample(65_536, with: tus),
            "creation_with_upload": Sample(true, with: tus),
            "upload_parts": Sample(3, with: tus),
            "output": Sample("named.bin"),
            "dir": Sample(.string(directory + "/sub")),
            "on_conflict": Sample("skip"),
            "checksum": Sample(.string(digest)),
            "mode": Sample("0640"),
            "remote_time": Sample(true),
            "allow_hidden": Sample(true),
            "priority": Sample("high"),
            "group": Sample("g"),
            "label": Sample("l"),
            "client_key": Sample("k"),
            "owner": Sample(.string("\(geteuid())"), shown: [:]),
            "lease": Sample("walk", shown: ["lease": "walk"]),
            "slot": Sample("s"),
            "finalize": Sample("manual"),
            "post_process": Sample("walk"),
            "on_complete": Sample("walk"),
            "on_error": Sample("walk"),
            "on_end": Sample(["walk"]),
            "coalesce": Sample(false),
            "paused": Sample(true, shown: ["state": "paused"]),
            "after": Sample([1]),
            "after_batch": Sample(1),
            "after_group": Sample("before"),
            "not_before": Sample(later),
            "window": Sample(["times": ["22:00-06:00"], "zone": "local"]),
            "deadline": Sample(later),
            "max_retries": Sample(3),
            "retry_for": Sample(60),
            "retry_non_idempotent": Sample(true),
            // Says how the task is added; nothing keeps it.
            "retry_failed": Sample(true, shown: [:]),
            "max_recv_rate": Sample(1000),
            "max_send_rate": Sample(2000),
            "segments": Sample(3),
            "range": Sample("5-9"),
            "max_size": Sample(12_345),
            "resume": Sample("unsafe"),
            "profile": Sample("walk"),
            "redirect": Sample("deny"),
            "max_redirects": Sample(3),
            "allow_downgrade": Sample(true),
            "http_version": Sample("1.1"),
            "connect_timeout": Sample(7),
            "idle_timeout": Sample(8),
            "total_timeout": Sample(9),
            "min_recv_rate": Sample(10),
            "min_recv_time": Sample(20),
            "accept_status": Sample("200-299,404"),
            "accept_types": Sample(["image/png"]),
            "reject_html": Sample(true),
            "announced_digests": Sample("ignore"),
            "parse": Sample(["json"], with: ["kind": "data"]),
            "strip_nulls": Sample(true, with: ["kind": "data", "parse": ["json"]]),
            "credential": Sample(["user": "u", "password": "p"], shown: masked),
            "client_cert": Sample(["certificate": "/c.pem", "key": "/k.pem"]),
            "cookies": Sample(true, with: ["profile": "jar"]),
            "proxy": Sample("http://proxy.test:3128"),
            "cache_policy": Sample("protocol"),
            "store": Sample(true),
            "cache_key": Sample(["ignore_query": true]),
            "cookie_list": Sample(
                [["domain": "walk.test", "name": "a", "value": "b"]],
                shown: ["cookie_list": [["domain": "walk.test", "name": "a", "value": "***"]]]),
            "allow_metered": Sample(false),
            "ip_version": Sample("6"),
            "interface": Sample("lo"),
            "unix_socket": Sample("/run/walk.sock"),
            "path_as_is": Sample(true),
            "ca_file": Sample(.string(directory + file)),
            "resolve": Sample(["walk.test:443:192.0.2.7,[2001:db8::7]"]),
            "connect_to": Sample(["walk.test::other.test:8443"]),
            "progress_interval": Sample(2),
            "policy": Sample("walk"),
            "meta": Sample(["job": 17]),
        ]
    }

    /// Fields of a profile that say nothing of a task's record, or mean something else there.
    private static let profileOnly: Set<String> = [
        "name", "base_url", "header_rules", "languages", "credential", "client_cert", "cookies", "max_active", "polite",
        "max_recv_rate", "max_send_rate", "credential_hook",
    ]

    @Test func aValueThatIsNotTheDefaultIsAddedShownUpdatedAndKeptOverARestart() async throws {
        let options = DaemonFixture.Options(settings: [
            "hooks": ["walk": "{argv: [/bin/true]}"],
            "webhooks": ["walk": "{url: \"http://127.0.0.1:9/\", events: []}"],
        ])
        try await withDaemon(options) { daemon in
            try FileTree.write("bytes", to: daemon.downloads + Self.file)
            _ = try await daemon.call("profile.set", ["profile": ["name": "walk"]])
            _ = try await daemon.call("profile.set", ["profile": ["name": "jar", "cookies": "jar"]])
            _ = try await daemon.call(
                "policy.set", ["policy": ["name": "walk", "hosts": ["walk.test"], "min_tls": "1.3"]])
            let samples = Self.samples(in: daemon.downloads)
            let plain = try await daemon.add(Self.url, ["paused": true])
            _ = try await daemon.call("batch.add", ["tasks": [.string(Self.url)], "options": ["paused": true]])
            var records: [(id: Int64, name: String, shown: JSONObject)] = []
            for field in NewTask.wireFields {
                let sample = try #require(samples[field.name], "no sample of the field \(field.name)")
                records.append(
                    (try await Self.add(field.name, sample, daemon), field.name, sample.record(of: field.name)))
            }
            for field in TaskChanges.wireFields {
                let sample = try #require(samples[field.name], "no sample of the field \(field.name)")
                let id = try await daemon.add(Self.url, ["paused": true])
                _ = try await daemon.call(
                    "task.update", ["id": .integer(id), "changes": .object([field.name: sample.value])])
                records.append((id, "changes.\(field.name)", sample.record(of: field.name)))
            }
            for field in ProfileInput.wireFields where !Self.profileOnly.contains(field.name) {
                let sample = try #require(samples[field.name], "no sample of the field \(field.name)")
                let name = JSONValue.string("of-" + field.name)
                _ = try await daemon.call(
                    "profile.set", ["profile": .object(["name": name, field.name: sample.value])])
                let id = try await daemon.add(Self.url, ["paused": true, "profile": name])
                records.append((id, "profile.\(field.name)", sample.record(of: field.name)))
            }
            let usual = try await daemon.task(plain)
            try await Self.check(records, usual: usual, daemon)
            try await daemon.stop()
            try await daemon.start()
            try await Self.check(records, usual: usual, daemon)
        }
    }

    private static func add(_ name: String, _ sample: Sample, _ daemon: DaemonFixture) async throws -> Int64 {
        var fields = sample.companions
        fields["paused"] = true
        fields[name] = sample.value
        if name != "url", name != "urls" { fields["url"] = .string(url) }
        let result = try await daemon.call("task.add", .object(fields))
        return try #require(result["task"]?["id"]?.integerValue, "\(name): \(result.text)")
    }

    /// Compares what `task.get` and `task.list` show.
    private static func check(
        _ records: [(id: Int64, name: String, shown: JSONObject)], usual: JSONValue, _ daemon: DaemonFixture
    ) async throws {
        let page = try await daemon.call("task.list", ["limit": 1000])
        let listed = page["tasks"]?.arrayValue ?? []
        for (id, name, shown) in records {
            let task = try await daemon.task(id)
            let line = listed.first { $0["id"]?.integerValue == id }
            for (member, value) in shown.members {
                #expect(task[member] == value, "\(name)")
                #expect(line?[member] == value, "\(name)")
                if name != "paused" { #expect(usual[member] != value, "\(name) has its default") }
            }
        }
    }
}
