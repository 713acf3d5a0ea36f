import StrictJSON
import Testing
import XferTestSupport

/// Writing policies: what is kept, what is refused, and who holds on to what.
@Suite struct PolicyAdministrationTests {
    private let trust: TrustFixture

    init() throws { trust = try TrustFixture() }

    @Test func policiesSurviveAKillAndKeepTheirVersions() async throws {
        try await withDaemon(trust.options()) { daemon in
            let first = try await daemon.pin("mirror", ".example.org", [TrustFixture.foreignPin])
            let second = try await daemon.pin("mirror", ".example.org", [TrustFixture.foreignPin], ["min_tls": "1.3"])
            #expect((first["version"]?.integerValue ?? 0) < (second["version"]?.integerValue ?? 0))
            await daemon.kill9()
            try await daemon.start()
            let kept = try await daemon.call("policy.get", ["name": "mirror"])
            #expect(kept["policy"] == second)
            #expect(try await daemon.policyNames == ["default", "mirror"])
            _ = try await daemon.call("policy.remove", ["name": "mirror"])
            let third = try await daemon.pin("mirror", ".example.org", [TrustFixture.foreignPin])
            #expect((third["version"]?.integerValue ?? 0) > (second["version"]?.integerValue ?? 0))
            let gone = try await daemon.events(types: "session.invalidated").compactMap { $0["version"] }
            #expect(gone == [first["version"], second["version"]])
        }
    }

    @Test func badPoliciesAreRefusedAndNothingIsStored() async throws {
        let key = try TestCA.selfSigned().privateKey
        let expired = try TestCA.selfSigned(.expired).certificate
        let good: JSONValue = .string(TrustFixture.foreignPin)
        func policy(
            _ name: String = "a", hosts: [JSONValue] = ["a.test"], pins: [JSONValue], _ more: JSONObject = [:]
        ) -> JSONValue {
            var object: JSONObject = [
                "name": .string(name), "mode": "public_key", "hosts": .array(hosts), "pins": .array(pins),
            ]
            for (key, value) in more.members { object[key] = value }
            return ["policy": .object(object)]
        }
        let cases: [(params: JSONValue, path: String)] = [
            (policy(pins: ["hello"]), "policy.pins[0]"), (policy(pins: [good, .string(key)]), "policy.pins[1]"),
            (policy(pins: ["sha256/AAAA"]), "policy.pins[0]"), (policy(pins: [.string(expired)]), "policy.pins"),
            (policy(hosts: ["*.*.org"], pins: [good]), "policy.hosts[0]"),
            (policy(hosts: ["*"], pins: [good]), "policy.hosts[0]"),
            (policy(hosts: [], pins: [good]), "policy.hosts"), (policy(pins: []), "policy.pins"),
            (policy("default", pins: [good]), "policy.hosts"), (policy("A b", pins: [good]), "policy.name"),
            (policy(pins: [good], ["mode": "certificate"]), "policy.pins"),
            (
                policy(pins: [], ["mode": "none", "allow_invalid_certificates": true]),
                "policy.allow_invalid_certificates"
            ),
            (policy(pins: [good], ["expires_at": "2020-01-01T00:00:00Z"]), "policy.expires_at"),
            (policy(pins: [good], ["nonsense": 1]), "policy.nonsense"),
            (
                policy(pins: [good], ["client_certificate": ["certificate": "/no/c.pem", "key": "/no/k.pem"]]),
                "policy.client_certificate"
            ),
        ]
        try await withDaemon(trust.options()) { daemon in
            for (params, path) in cases {
                let refusal = try await daemon.refusal("policy.set", params)
                #expect(refusal?.code == -32602 && refusal?.path == path, "\(path): \(String(describing: refusal))")
                #expect(refusal?.message.contains("PRIVATE") != true)
            }
            try await daemon.pin("b", "b.test", [TrustFixture.foreignPin])
            let taken = try await daemon.refusal("policy.set", policy("c", hosts: ["b.test"], pins: [good]))
            #expect(taken?.path == "policy.hosts")
            #expect(try await daemon.policyNames == ["b", "default"])
            #expect(!daemon.log.contains("PRIVATE KEY"))
        }
    }

    @Test func aPolicyNamedByATaskCannotBeRemoved() async throws {
        try await withDaemon(trust.options()) { daemon in
            try await daemon.pin("bank", "bank.test", [TrustFixture.foreignPin])
            let unknown = try await daemon.refusal("task.add", ["url": "https://bank.test/", "policy": "bonk"])
            #expect(unknown?.path == "policy")
            let elsewhere = try await daemon.refusal("task.add", ["url": "https://other.test/", "policy": "bank"])
            #expect(elsewhere?.path == "policy")
            let plain = try await daemon.refusal("task.add", ["url": "http://bank.test/"])
            #expect(plain?.code == -32004 && plain?.path == "url")
            #expect(try await daemon.call("queue.stats")["counts"]?["queued"] == 0)

            let id = try await daemon.add("https://bank.test/", ["policy": "bank", "paused": true])
            #expect(try await daemon.task(id)["policy"] == "bank")
            let used = try await daemon.refusal("policy.remove", ["name": "bank"])
            #expect(used?.code == -32005 && used?.reason == "in_use")
            _ = try await daemon.call("task.cancel", ["ids": [.integer(id)]])
            #expect(try await daemon.refusal("policy.remove", ["name": "bank"]) == nil)
            #expect(try await daemon.refusal("policy.remove", ["name": "bank"])?.code == -32001)
        }
    }

    @Test func policiesOfTheConfigurationCannotBeChangedOverRPC() async throws {
        let file = #"[{name: bank, mode: public_key, hosts: [bank.test], pins: ["\#(TrustFixture.foreignPin)"]}]"#
        try await withDaemon(trust.options(policies: file)) { daemon in
            let bank = try await daemon.call("policy.get", ["name": "bank"])["policy"]
            #expect(bank?["origin"] == "configuration")
            #expect(try await daemon.refusal("policy.remove", ["name": "bank"])?.reason == "read_only")
            let id = try await daemon.add("https://bank.test/", ["policy": "bank", "paused": true])
            await daemon.kill9()
            try await daemon.start()
            #expect(try await daemon.call("policy.get", ["name": "bank"])["policy"] == bank)

            // Dropped by a reload: the task fails, it never falls to the default.
            try daemon.configure(trust.options().settings)
            daemon.reload()
            try await eventually("the policy is gone") { try await daemon.policyNames == ["default"] }
            _ = try await daemon.call("task.resume", ["ids": [.integer(id)]])
            try await daemon.fails(id, "policy_missing")
        }
    }

    @Test func aFaultyPolicyInTheConfigurationNamesItsLine() async throws {
        let pem = trust.directory.file("key.pem")
        try FileTree.write(try TestCA.selfSigned().privateKey, to: pem, mode: 0o600)
        let cases = [
            #"[{name: a, mode: public_key, hosts: ["*.*.org"], pins: ["\#(TrustFixture.foreignPin)"]}]"#: "hosts",
            #"[{name: a, mode: public_key, hosts: [a.test], pins: ["\#(pem)"]}]"#: "private key",
            #"[{name: a, mode: public_key, hosts: [a.test]}]"#: "no pins",
            #"[{name: a, hosts: [a.test]}, {name: a, hosts: [b.test]}]"#: "two policies have the name",
            #"[{name: a, hosts: [a.test], pinz: []}]"#: "pins",
        ]
        for (policies, word) in cases {
            let daemon = try DaemonFixture(trust.options(policies: policies))
            let result = try await Command.run(
                "\(Command.productsDirectory)/xferd", daemon.arguments + ["--check-config"],
                environment: daemon.environment)
            let line = try #require(
                FileTree.text(daemon.configurationFile).split(separator: "\n").firstIndex { $0.contains("policies:") })
            #expect(result.exit == .code(2), "\(policies)")
            let said = result.errors + result.output
            #expect(said.contains("config.yaml:\(line + 1):") && said.contains(word), "\(said)")
        }
    }

    @Test func theLineThatPinPrintsIsEnoughForACertificateOfAnotherName() async throws {
        let stranger = try TestCA.selfSigned(.wrongHost)
        let server = try TLSServer(TLSServer.Options(chain: stranger.certificate, privateKey: stranger.privateKey))
        let host = "127.0.0.1:\(server.port)"
        try await withDaemon(trust.options()) { daemon in
            let shown = try await daemon.ctl("policy", "pin", host)
            let failed = try await daemon.ctl("add", "--wait", "-o", "a", "https://\(host)/f")
            #expect(failed.exit == .code(1), "\(failed)")
            for text in [shown.output, failed.output] {
                let line = try #require(text.split(separator: "`").first { $0.contains(" policy set ") }, "\(text)")
                let words = line.split(separator: " ").map(String.init).drop { $0 != "policy" }
                #expect(words.contains("--no-domain-name"), "\(line)")
                #expect(try await daemon.ctl(Array(words)).exit == .code(0), "\(line)")
                let added = try await daemon.ctl("add", "--wait", "-o", "b", "https://\(host)/f")
                #expect(added.exit == .code(0), "\(added)")
                #expect(try await daemon.ctl("policy", "remove", words[words.startIndex + 2]).exit == .code(0))
            }
        }
    }

    @Test func theCommandLineShowsAndTestsServers() async throws {
        let leaf = try trust.authority.issue()
        let server = try trust.server(leaf)
        let host = "127.0.0.1:\(server.port)"
        try await withDaemon(trust.options()) { daemon in
            let shown = try await daemon.ctl("policy", "pin", host)
            #expect(shown.exit == .code(0) && shown.output.contains(leaf.keyPin), "\(shown)")
            #expect(shown.output.contains("Pinning trusts this one connection"))

            let set = try await daemon.ctl("policy", "set", "local", "--host", host, "--pin", leaf.keyPin)
            #expect(set.exit == .code(0), "\(set)")
            #expect(try await daemon.ctl("policy", "list").output.contains("local"))
            let good = try await daemon.ctl("policy", "test", "https://\(host)/")
            #expect(good.exit == .code(0) && good.output.contains("accepted"), "\(good)")

            _ = try await daemon.ctl("policy", "set", "local", "--host", host, "--pin", TrustFixture.foreignPin)
            let bad = try await daemon.ctl("policy", "test", "https://\(host)/", "--json")
            let report = try JSONValue(parsing: Array(bad.output.utf8))
            #expect(bad.exit == .code(1) && report["verdict"] == "refused")
            #expect(report["policies"]?.arrayValue?.first?["reason"] == "pin_mismatch")
            #expect(report["chain"]?.arrayValue?.first?["pin"] == .string(leaf.keyPin))
            #expect(try await daemon.ctl("policy", "remove", "local").exit == .code(0))
            #expect(server.counts.requests.isEmpty)
        }
    }
}
