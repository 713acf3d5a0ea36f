import StrictJSON
import Testing
import XferTestSupport

/// Policies that change while the service runs, over RPC and in the configuration.
@Suite struct PolicyChangeTests {
    private let trust: TrustFixture
    private let leaf: TestCertificate

    init() throws {
        trust = try TrustFixture()
        leaf = try trust.authority.issue()
    }

    private func policies(_ host: String, _ pin: String) -> String {
        "[{name: site, mode: public_key, hosts: [\"\(host)\"], pins: [\"\(pin)\"]}]"
    }

    private func options(_ policies: String = "[]") -> DaemonFixture.Options {
        var options = trust.options(policies: policies)
        options.settings["queue"] = ["max_active": "60", "max_active_per_host": "60"]
        return options
    }

    private func counts(_ daemon: DaemonFixture, _ type: String) async throws -> Int {
        try await daemon.events(types: type).count
    }

    /// Fifty transfers that end one after the other, those past their last byte among them, when the policy changes.
    @Test(arguments: [true, false])
    func noTransferCompletesUnderAReplacedPolicyUnderLoad(byRPC: Bool) async throws {
        let body = String(repeating: "0123456789abcdef", count: 4096)
        let server = try trust.server(leaf) { $0.body = body }
        let host = "localhost:\(server.port)"
        let start = options(byRPC ? "[]" : policies(host, leaf.keyPin))
        try await withDaemon(start) { daemon in
            if byRPC { try await daemon.pin("site", host, [leaf.keyPin]) }
            var ids: [Int64] = []
            for index in 0..<50 {
                let rate = 1_000 + Int64(index) * 1_500
                ids.append(
                    try await daemon.add("https://\(host)/f", ["max_recv_rate": .integer(rate), "coalesce": false]))
            }
            try await eventually("some are done and others are not") {
                try await counts(daemon, "task.completed") >= 5
            }
            if byRPC {
                try await daemon.pin("site", host, [TrustFixture.foreignPin])
            } else {
                try daemon.configure(options(policies(host, TrustFixture.foreignPin)).settings)
                daemon.reload()
                try await eventually("it is read") { daemon.log.contains("changed=trust.policies") }
            }
            // The edit is answered: from now on nothing completes.
            let completed = try await counts(daemon, "task.completed")
            let requests = server.counts.requests.count
            #expect(completed < 50)
            var failed = 0
            for id in ids {
                let view = try await daemon.finish(id)
                if view.state == "completed" { continue }
                failed += 1
                #expect(view.state == "failed" && view.errorReason == "pin_mismatch", "\(view.json.text)")
            }
            #expect(failed == 50 - completed)
            #expect(try await counts(daemon, "task.completed") == completed)
            // No task sent another request.
            #expect(server.counts.requests.count == requests)
            let files = try daemon.downloaded.filter { !$0.hasSuffix(".part") }
            #expect(files.count == completed)
            for file in files { #expect(try FileTree.text("\(daemon.downloads)/\(file)") == body) }
        }
    }

    /// Tasks join one transfer before, while and after the policy changes: none gets bytes under the old one.
    @Test func aTaskThatJoinsDuringAPolicyChangeIsJudgedByTheNewPolicy() async throws {
        // More than a minute under the limit, so that the transfer cannot end before the policy changes.
        let body = String(repeating: "0123456789abcdef", count: 1 << 16)
        let server = try trust.server(leaf) { $0.body = body }
        let host = "localhost:\(server.port)"
        try await withDaemon(options("[]")) { daemon in
            try await daemon.pin("site", host, [leaf.keyPin])
            let fields: JSONObject = ["max_recv_rate": 10_000]
            let first = try await daemon.add("https://\(host)/f", fields)
            try await daemon.waitForBytes(10_000, of: first)
            let adding = Task {
                var ids: [Int64] = []
                for _ in 0..<40 { ids.append(try await daemon.add("https://\(host)/f", fields)) }
                return ids
            }
            try await daemon.pin("site", host, [TrustFixture.foreignPin])
            for id in [first] + (try await adding.value) { try await daemon.fails(id, "pin_mismatch") }
            #expect(try await counts(daemon, "task.completed") == 0)
            try await eventually("no bytes are left") { try daemon.downloaded.isEmpty }
            #expect(server.counts.requests.count == 1)
        }
    }

    @Test(.enabled(if: NginxFixture.isInstalled)) func aPolicyEditThatStillAcceptsTheServerKeepsTheBytes() async throws
    {
        var nginxOptions = NginxFixture.Options()
        nginxOptions.tls = (trust.authority.chain(for: leaf), leaf.privateKey)
        let nginx = try await NginxFixture(nginxOptions)
        // More than a minute under the limit, so that the download cannot end before the limit is lifted.
        let source = SourceVersion.tagged(5, length: 8_000_000)
        try nginx.publish(source, as: "f")
        let host = "localhost:\(nginx.httpsPort)"
        try await withDaemon(options()) { daemon in
            try await daemon.pin("site", host, [leaf.keyPin])
            let id = try await daemon.add("https://\(host)/f", ["max_recv_rate": 100_000, "segments": 1])
            try await daemon.waitForBytes(50_000, of: id)
            // A backup pin comes in.
            try await daemon.pin("site", host, [TrustFixture.foreignPin, leaf.keyPin])
            try await daemon.waitForBytes(150_000, of: id)
            _ = try await daemon.call("task.update", ["id": .integer(id), "changes": ["max_recv_rate": 0]])
            try expectFile(try await daemon.complete(id), is: source)
            try await eventually("nginx has logged both") { try nginx.log.count == 2 }
            #expect(try nginx.log.map(\.range).contains { $0.hasPrefix("bytes=") })
        }
    }

    @Test func aPinFileThatChangesAloneIsReadAgain() async throws {
        let server = try trust.server(leaf)
        let host = "localhost:\(server.port)"
        let pins = trust.directory.file("pins.pem")
        try FileTree.write(leaf.certificate, to: pins)
        try await withDaemon(options(policies(host, pins))) { daemon in
            try await daemon.complete(try await daemon.add("https://\(host)/f"))
            let first = try await daemon.call("policy.get", ["name": "site"])["policy"]
            func version() async throws -> Int64? {
                // The service manager's socket holds a few messages only, so the test has to read them.
                _ = daemon.notifications
                return try await daemon.call("policy.get", ["name": "site"])["policy"]?["version"]?.integerValue
            }
            // The test sends no signal.
            try FileTree.write(try trust.authority.issue().certificate, to: pins)
            try await eventually("it is read") { try await version() != first?["version"]?.integerValue }
            try await daemon.fails(try await daemon.add("https://\(host)/f"), "pin_mismatch")
            // A file that holds no pin any more changes nothing.
            let second = try await version()
            try FileTree.write("nothing", to: pins)
            try await eventually("it is refused") { daemon.log.contains("not applied") }
            #expect(try await version() == second)
            // With SIGHUP, as where files are behind symbolic links.
            try FileTree.write(leaf.certificate, to: pins)
            daemon.reload()
            try await eventually("it is read") { try await version() != second }
            try await daemon.complete(try await daemon.add("https://\(host)/f"))
        }
    }

    /// Neither policy may decide: the one of the file may demand more of a server.
    @Test func nothingIsTransferredWhileAConfiguredPolicyConflictsWithAStoredOne() async throws {
        let conflicts = ["[{name: bank, hosts: [other.test]}]", "[{name: other, hosts: [bank.test]}]"]
        for configured in conflicts {
            let server = try trust.server(leaf) { $0.body = "1" }
            let daemon = try DaemonFixture(options())
            try await daemon.start()
            let stored = try await daemon.pin("bank", "bank.test", [TrustFixture.foreignPin])
            try await daemon.stop()
            try daemon.configure(options(configured).settings)
            try await daemon.start()
            #expect(try await daemon.policyNames == ["bank", "default"])
            #expect(try await daemon.call("policy.get", ["name": "bank"])["policy"] == stored)
            let status = try await daemon.call("daemon.status")
            let conflicts = status["config_conflicts"]?.arrayValue?.compactMap(\.stringValue) ?? []
            #expect(status["degraded"] == true, "\(status.text)")
            #expect(conflicts.first?.contains("xferctl policy remove bank") == true, "\(status.text)")
            let id = try await daemon.add("https://localhost:\(server.port)/f")
            let task = try await daemon.task(id)
            #expect(task["state"] == "queued" && task["wait"]?["reason"] == "storage", "\(task.text)")
            #expect(task["wait"]?["detail"]?.stringValue?.contains("conflicts") == true, "\(task.text)")
            #expect(server.counts.requests.isEmpty)
            // The file's policies take its place at once.
            _ = try await daemon.call("policy.remove", ["name": "bank"])
            try await daemon.complete(id)
            let name = configured.contains("bank.test") ? "other" : "bank"
            let applied = try await daemon.call("policy.get", ["name": .string(name)])["policy"]
            #expect(applied?["origin"] == "configuration", "\(applied?.text ?? "none")")
            let after = try await daemon.call("daemon.status")
            #expect(after["degraded"] == false && after["config_conflicts"] == nil, "\(after.text)")
            try await daemon.stop()
        }
    }

    @Test func aReloadWithAConflictingPolicyChangesNothing() async throws {
        let before = "[{name: own, hosts: [own.test], min_tls: \"1.3\"}]"
        try await withDaemon(options(before)) { daemon in
            try await daemon.pin("bank", "bank.test", [TrustFixture.foreignPin])
            var settings = options("[{name: own, hosts: [bank.test]}]").settings
            settings["queue"] = ["max_active": "7"]
            try daemon.configure(settings)
            daemon.reload()
            try await eventually("it is refused") { daemon.log.contains("not applied") }
            #expect(daemon.log.contains("its host bank.test is also that of trust policy \"bank\""))
            let own = try await daemon.call("policy.get", ["name": "own"])["policy"]
            #expect(own?["hosts"] == ["own.test"] && own?["min_tls"] == "1.3")
            // The other half of the change is not applied either.
            let shown = try await daemon.call("daemon.config")["settings"]?.arrayValue ?? []
            #expect(shown.first { $0["key"] == "queue.max_active" }?["value"] == "60")
        }
    }

    /// Each use of a policy that accepts any certificate is logged, also over a kept connection.
    @Test func everyTaskThatALaxPolicyAcceptsIsLogged() async throws {
        let stranger = try TestCA.selfSigned()
        let server = try TLSServer(TLSServer.Options(chain: stranger.certificate, privateKey: stranger.privateKey))
        let host = "localhost:\(server.port)"
        try await withDaemon(options()) { daemon in
            try await daemon.pin(
                "lax", host, [],
                ["mode": "none", "allow_invalid_certificates": true, "validates_domain_name": false])
            for _ in 0..<3 { try await daemon.complete(try await daemon.add("https://\(host)/f")) }
            // At least one of the tasks has no handshake of its own.
            #expect(server.counts.connections < 3)
            let lines = daemon.log.split(separator: "\n").filter { $0.contains("allows invalid certificates") }
            #expect(lines.count == 3, "\(lines)")
            for (id, line) in zip(1..., lines) {
                #expect(line.lowercased().contains("warning"), "\(line)")
                #expect(line.contains("task=\(id)") && line.contains("policy=lax") && line.contains("host=\(host)"))
            }
        }
    }

    @Test func aNewPolicyAppliesToRunningTasks() async throws {
        let server = try trust.server(leaf) { $0.body = String(repeating: "0123456789abcdef", count: 1 << 16) }
        let host = "localhost:\(server.port)"
        try await withDaemon(options()) { daemon in
            let id = try await daemon.add("https://\(host)/f", ["max_recv_rate": 10_000])
            try await daemon.waitForBytes(1, of: id)
            try await daemon.pin("site", "localhost", [TrustFixture.foreignPin])
            try await daemon.fails(id, "pin_mismatch")
        }
    }

    @Test func policiesOfBothKindsSurviveAKillWhileTheyAreWritten() async throws {
        try await withDaemon(options("[{name: own, hosts: [own.test]}]")) { daemon in
            for round in 0..<5 {
                // An answered change is kept, whatever is under way when the daemon ends.
                try await daemon.pin("kept\(round)", "kept\(round).test", [TrustFixture.foreignPin])
                let session = try daemon.session()
                let more = Task {
                    for index in 0..<1000 {
                        _ = try await session.call(
                            "policy.set",
                            [
                                "policy": [
                                    "name": .string("x\(round)"), "hosts": [.string("x\(round).test")],
                                    "min_tls": .string(index % 2 == 0 ? "1.2" : "1.3"),
                                ]
                            ])
                    }
                }
                try await eventually("it is written") { try await daemon.policyNames.contains("x\(round)") }
                await daemon.kill9()
                _ = await more.result
                try await daemon.start()
                let names = try await daemon.policyNames
                #expect(
                    names.contains("own")
                        && (0...round).allSatisfy { names.contains("kept\($0)") && names.contains("x\($0)") })
            }
        }
    }
}
