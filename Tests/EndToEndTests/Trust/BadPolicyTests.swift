import StrictJSON
import Testing
import XferTestSupport

/// Policies and tasks that are refused: the field at fault is named, and nothing is stored.
@Suite struct BadPolicyTests {
    private let trust: TrustFixture

    init() throws { trust = try TrustFixture() }

    private func policy(_ change: (inout JSONObject) -> Void) -> JSONValue {
        var policy: JSONObject = [
            "name": "bank", "mode": "public_key", "hosts": ["bank.test"], "pins": [.string(TrustFixture.foreignPin)],
        ]
        change(&policy)
        return ["policy": .object(policy)]
    }

    /// Refused for this field, saying this, over RPC.
    private func refuses(
        _ path: String, _ words: String, sourceLocation: SourceLocation = #_sourceLocation,
        _ changes: (inout JSONObject) -> Void...
    ) async throws {
        try await withDaemon(trust.options()) { daemon in
            let before = try await daemon.events().count
            for change in changes {
                let refusal = try await daemon.refusal("policy.set", policy(change))
                #expect(
                    refusal?.code == -32602 && refusal?.path == path, "\(String(describing: refusal))",
                    sourceLocation: sourceLocation)
                #expect(
                    refusal?.message.contains(words) == true, "\(String(describing: refusal))",
                    sourceLocation: sourceLocation)
                #expect(refusal?.message.contains("-----BEGIN") == false, sourceLocation: sourceLocation)
            }
            #expect(try await daemon.policyNames == ["default"], sourceLocation: sourceLocation)
            #expect(try await daemon.events().count == before, sourceLocation: sourceLocation)
            #expect(!daemon.log.contains("-----BEGIN"), sourceLocation: sourceLocation)
        }
    }

    @Test func aPinThatIsNoCertificateIsRefused() async throws {
        let words = "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"
        try await refuses(
            "policy.pins[0]", "cannot be parsed", { $0["pins"] = [.string(words)] })
        try await refuses("policy.pins[1]", "not a pin", { $0["pins"] = [.string(TrustFixture.foreignPin), "hello"] })
    }

    @Test func aPrivateKeyAsAPinIsRefused() async throws {
        let key = try TestCA.selfSigned()
        try await refuses(
            "policy.pins[0]", "private key", { $0["pins"] = [.string(key.privateKey)] },
            { $0["pins"] = [.string(key.certificate + key.privateKey)] })
    }

    @Test func aPinDigestOfAWrongLengthIsRefused() async throws {
        try await refuses(
            "policy.pins[0]", "bytes, expected the 32", { $0["pins"] = ["sha256/AAAA"] },
            { $0["pins"] = [.string("sha256/" + String(repeating: "AAAA", count: 11))] })
        try await refuses(
            "policy.pins[0]", "base64", { $0["pins"] = ["sha256/BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc"] })
    }

    @Test func aHostPatternThatIsTooWideIsRefused() async throws {
        try await refuses(
            "policy.hosts[1]", "*", { $0["hosts"] = ["a.test", "*.*.org"] }, { $0["hosts"] = ["a.test", "*"] },
            { $0["hosts"] = ["a.test", "b*.test"] }, { $0["hosts"] = ["a.test", "*:443"] },
            { $0["hosts"] = ["a.test", "*.bü*cher.test"] })
        try await refuses(
            "policy.hosts[0]", "host", { $0["hosts"] = ["."] }, { $0["hosts"] = ["*."] }, { $0["hosts"] = [""] })
    }

    @Test func anExpiredPinIsRefused() async throws {
        let expired = try TestCA.selfSigned(.expired)
        try await refuses("policy.pins", "has expired", { $0["pins"] = [.string(expired.certificate)] })
    }

    @Test func anExpiredPinFileIsRefused() async throws {
        let file = trust.directory.file("expired.pem")
        try FileTree.write(try TestCA.selfSigned(.expired).certificate, to: file)
        let bad = trust.options(policies: "[{name: bank, mode: certificate, hosts: [bank.test], pins: [\"\(file)\"]}]")
        let daemon = try DaemonFixture(bad)
        let start = try await run(daemon)
        #expect(
            start.exit == .code(78) && start.errors.contains("pins: the certificate of pin 1 has expired"), "\(start)")
        let check = try await run(daemon, "--check-config")
        #expect(check.errors.contains("has expired"), "\(check)")
        // By a reload: what is in force stays.
        try daemon.configure(trust.options().settings)
        try await daemon.start()
        try daemon.configure(bad.settings)
        daemon.reload()
        try await eventually("it is refused") { daemon.log.contains("not applied") }
        #expect(try await daemon.policyNames == ["default"])
        try await daemon.stop()
    }

    @Test func aDuplicatePolicyNameIsRefused() async throws {
        let file = "[{name: bank, hosts: [a.test]}, {name: bank, hosts: [b.test]}]"
        let check = try await run(try DaemonFixture(trust.options(policies: file)), "--check-config")
        #expect(check.exit == .code(2) && check.errors.contains("two policies have the name \"bank\""), "\(check)")
        // Over RPC a name is replaced; one of the configuration's is not.
        try await withDaemon(trust.options(policies: "[{name: bank, hosts: [a.test]}]")) { daemon in
            let refusal = try await daemon.refusal("policy.set", policy { _ in })
            #expect(refusal?.code == -32005 && refusal?.reason == "read_only" && refusal?.path == "name")
            #expect(try await daemon.call("policy.get", ["name": "bank"])["policy"]?["hosts"] == ["a.test"])
        }
    }

    @Test func aTaskThatNamesAnUnknownPolicyIsRefused() async throws {
        try await withDaemon(trust.options()) { daemon in
            let add = try await daemon.refusal("task.add", ["url": "https://bank.test/", "policy": "bank"])
            #expect(add?.code == -32602 && add?.path == "policy")
            let many = try await daemon.refusal(
                "task.add", ["tasks": [["url": "https://a.test/"], ["url": "https://bank.test/", "policy": "bank"]]])
            #expect(many?.code == -32602 && many?.path == "tasks[1].policy")
            #expect(try await daemon.call("queue.stats")["counts"]?["queued"] == 0)
            let id = try await daemon.add("https://bank.test/", ["paused": true])
            let update = try await daemon.refusal("task.update", ["id": .integer(id), "changes": ["policy": "bank"]])
            #expect(update?.code == -32602 && update?.path == "changes.policy")
            #expect(try await daemon.task(id)["policy"] == nil)
            let tested = try await daemon.refusal("policy.test", ["url": "https://bank.test/", "policy": "bank"])
            #expect(tested?.code == -32001)
        }
    }

    @Test func theTrustPolicyOfATaskCanBeChangedOnlyWhileItDoesNotRun() async throws {
        let leaf = try trust.authority.issue()
        let server = try trust.server(leaf) { $0.body = String(repeating: "0123456789abcdef", count: 1 << 16) }
        let url = "https://localhost:\(server.port)/f"
        try await withDaemon(trust.options()) { daemon in
            try await daemon.pin("own", "localhost", [TrustFixture.foreignPin])
            try await daemon.pin("site", "localhost:\(server.port)", [leaf.keyPin])
            try await daemon.pin("other", "other.test", [leaf.keyPin])
            let id = try await daemon.add(url, ["max_recv_rate": 10_000])
            try await daemon.waitForBytes(1, of: id)
            func update(_ policy: String) async throws -> RPCRefusal? {
                try await daemon.refusal("task.update", ["id": .integer(id), "changes": ["policy": .string(policy)]])
            }
            #expect(try await update("own")?.code == -32002)
            _ = try await daemon.call("task.pause", ["ids": [.integer(id)]])
            try await daemon.wait(id, for: "paused")
            #expect(try await update("other")?.path == "changes.policy")
            #expect(try await update("own") == nil)
            #expect(try await daemon.refusal("policy.remove", ["name": "own"])?.reason == "in_use")
            // It is held to it from then on, and so are the bytes it has.
            _ = try await daemon.call("task.resume", ["ids": [.integer(id)]])
            #expect(try await daemon.fails(id, "pin_mismatch").errorMessage.contains("\"own\""))
        }
    }

    @Test func anUnusableClientCertificateIsRefused() async throws {
        let clients = try TestCA(name: "clients")
        let (client, other) = (try clients.issue(.clientOnly), try clients.issue(.clientOnly))
        let place = trust.directory
        try FileTree.write(client.certificate, to: place.file("c.pem"))
        try FileTree.write(client.privateKey, to: place.file("good.key"), mode: 0o600)
        try FileTree.write(client.privateKey, to: place.file("open.key"), mode: 0o640)
        try FileTree.write(other.privateKey, to: place.file("other.key"), mode: 0o600)
        let cases = [
            "none.key": "No such file", "open.key": "readable by its owner only", "other.key": "does not belong to",
            "c.pem": "readable by its owner only",
        ]
        for (key, words) in cases {
            let (certificate, key) = (place.file("c.pem"), place.file(key))
            try await refuses("policy.client_certificate", words) {
                $0["client_certificate"] = ["certificate": .string(certificate), "key": .string(key)]
            }
            let file =
                "[{name: bank, hosts: [a.test], client_certificate: {certificate: \"\(certificate)\", key: \"\(key)\"}}]"
            let check = try await run(try DaemonFixture(trust.options(policies: file)), "--check-config")
            #expect(check.exit == .code(2) && check.errors.contains(words), "\(check)")
            #expect(check.errors.contains("client_certificate"), "\(check)")
        }
        let good =
            "[{name: bank, hosts: [a.test], client_certificate: {certificate: \"\(place.file("c.pem"))\", key: \"\(place.file("good.key"))\"}}]"
        #expect(try await run(try DaemonFixture(trust.options(policies: good)), "--check-config").exit == .code(0))
    }

    /// Whatever is sent, the answer is a policy that can be read back, or an error that names a field of it.
    @Test func aMutatedPolicyIsEitherStoredWholeOrRefusedByField() async throws {
        var random = SplitMix64(seed: 0x706f_6c69)
        let texts = [
            "", "bank", "default", "*", "*.*", ".org", "[::1]", "[::1]:0", "::", "a b", "\u{0}", "\u{202e}x", "ü.test",
            "xn--", "-", String(repeating: "a", count: 70_000), "sha256/", TrustFixture.foreignPin, "public_key", "1.3",
            "2099-01-01T00:00:00Z", "-----BEGIN CERTIFICATE-----", try TestCA.selfSigned().certificate, "/etc/passwd",
        ]
        let fields = [
            "name", "mode", "pins", "hosts", "allow_invalid_certificates", "validates_domain_name", "report_only",
            "expires_at", "min_tls", "client_certificate", "nonsense", "version",
        ]
        func value(_ depth: Int) -> JSONValue {
            switch Int.random(in: 0..<(depth > 2 ? 5 : 8), using: &random) {
            case 0: return .null
            case 1: return .bool(random.chance(0.5))
            case 2: return .integer(Int64.random(in: -3...3, using: &random))
            case 3, 4: return .string(texts.randomElement(using: &random) ?? "")
            case 5, 6: return .array((0..<Int.random(in: 0..<4, using: &random)).map { _ in value(depth + 1) })
            default:
                var object = JSONObject()
                for _ in 0..<Int.random(in: 0..<4, using: &random) {
                    object[(["certificate", "key"] + fields).randomElement(using: &random) ?? ""] = value(depth + 1)
                }
                return .object(object)
            }
        }
        try await withDaemon(trust.options()) { daemon in
            let session = try daemon.session()
            var taken = 0
            for index in 0..<1500 {
                let params = policy { policy in
                    policy["name"] = .string("p\(index % 20)")
                    policy["hosts"] = [.string("h\(index).test")]
                    for _ in 0..<Int.random(in: 0..<3, using: &random) {
                        policy[fields.randomElement(using: &random) ?? ""] = value(0)
                    }
                }
                do {
                    let stored = try await session.call("policy.set", params)["policy"]
                    let name = stored?["name"] ?? .null
                    #expect(try await session.call("policy.get", ["name": name])["policy"] == stored)
                    taken += 1
                } catch let refusal as RPCRefusal {
                    #expect(refusal.code == -32602, "\(refusal)")
                    #expect(refusal.path?.hasPrefix("policy.") == true, "\(refusal)")
                    #expect(refusal.message.utf8.count < 1000, "\(refusal.message.prefix(300))")
                }
            }
            #expect(taken > 100)
            let list = try await daemon.call("policy.list")
            await daemon.kill9()
            try await daemon.start()
            #expect(try await daemon.call("policy.list") == list)
        }
    }

    private func run(_ daemon: DaemonFixture, _ more: String...) async throws -> Command.Result {
        try await Command.run(
            "\(Command.productsDirectory)/xferd", daemon.arguments + more, environment: daemon.environment)
    }
}
