import StrictJSON
import Testing
import XferTestSupport

/// Deny and allow lists of the configuration, over RPC, on redirects, at connect time, and changed while tasks run.
@Suite struct AdmissionTests {
    private let source = SourceVersion.tagged(80, length: 300_000)

    private func options(_ network: [String: String]) -> DaemonFixture.Options {
        DaemonFixture.Options(settings: ["network": network])
    }

    @Test func addingATaskForADeniedHostOrLiteralAddressIsRefused() async throws {
        let server = try await FaultServer()
        server.serve("/f", source)
        let network = [
            "deny_hosts": "[bad.test, .evil.test]", "deny_addresses": "[127.0.0.1, \"fe80::/10\", 169.254.0.0/16]",
            "allow_hosts": "[.test, 127.0.0.1, 127.0.0.2, \"[fe80::1]\", 169.254.169.254]",
        ]
        try await withDaemon(options(network)) { daemon in
            for host in [
                "bad.test", "BAD.test.", "a.evil.test", "127.0.0.1", "[::ffff:127.0.0.1]", "[64:ff9b::127.0.0.1]",
                "0.0.0.0",
                "2130706433", "[fe80::1]", "169.254.169.254", "elsewhere.example", "127.0.0.3",
            ] {
                let url = "http://\(host):\(server.port)/f"
                let refusal = try #require(try await daemon.refusal("task.add", ["url": .string(url)]), "\(host)")
                #expect(
                    refusal.code == -32004 && refusal.reason == "rejected_by_policy" && refusal.path == "url", "\(host)"
                )
            }
            let many: JSONValue = ["tasks": [["url": "http://good.test/"], ["url": "http://bad.test/"]]]
            #expect(try await daemon.refusal("task.add", many)?.path == "tasks[1].url")
            #expect(try await daemon.call("task.list", ["filter": ["all": true]])["tasks"]?.arrayValue?.isEmpty == true)
        }
        #expect(server.connectionCount == 0)
    }

    @Test func aRedirectToADeniedAddressIsNotFollowed() async throws {
        let server = try await FaultServer()
        let port = server.port
        server.on("/literal") { _ in .redirect(to: "http://127.0.0.2:\(port)/f") }
        server.on("/mapped") { _ in .redirect(to: "http://[::ffff:127.0.0.2]:\(port)/f") }
        server.on("/host") { _ in .redirect(to: "http://denied.test:\(port)/f") }
        server.on("/metadata") { _ in .redirect(to: "http://169.254.169.254/latest/meta-data/") }
        let network = ["deny_addresses": "[127.0.0.2/31, 169.254.0.0/16]", "deny_hosts": "[denied.test]"]
        try await withDaemon(options(network)) { daemon in
            for path in ["/literal", "/mapped", "/host", "/metadata"] {
                let view = try await daemon.fails(try await daemon.add(server.url(path)), "rejected_by_policy")
                #expect(view.errorMessage.contains("network.deny_"), "\(view.errorMessage)")
            }
        }
        #expect(server.requests.map(\.path) == ["/literal", "/mapped", "/host", "/metadata"])
    }

    @Test func aHostNameThatResolvesToADeniedAddressFailsTheTask() async throws {
        let server = try await FaultServer()
        server.serve("/f", source)
        try await withDaemon(options(["deny_addresses": "[127.0.0.0/8, \"::1\"]"])) { daemon in
            let id = try await daemon.add("http://localhost:\(server.port)/f")
            let view = try await daemon.fails(id, "rejected_by_policy")
            #expect(view.errorMessage.hasPrefix("localhost:\(server.port): "), "\(view.errorMessage)")
        }
        #expect(server.connectionCount == 0)
    }

    /// Looking at certificates connects, too.
    @Test func aDeniedAddressIsNotInspected() async throws {
        let authority = try TestCA()
        let leaf = try authority.issue()
        let server = try TLSServer(TLSServer.Options(chain: authority.chain(for: leaf), privateKey: leaf.privateKey))
        let network = ["deny_addresses": "[127.0.0.0/8, \"::1\"]", "deny_hosts": "[denied.test]"]
        try await withDaemon(options(network)) { daemon in
            for (host, reason) in [
                ("denied.test", "network.deny_hosts"), ("127.0.0.1", "network.deny_addresses"),
                ("[::ffff:127.0.0.1]", "network.deny_addresses"), ("localhost", "network.deny_addresses"),
            ] {
                let url = JSONValue.string("https://\(host):\(server.port)/")
                let pin: JSONValue = ["host": .string(host), "port": .integer(Int64(server.port))]
                for (method, params, path) in [("policy.test", ["url": url], "url"), ("policy.pin", pin, "host")]
                    as [(String, JSONValue, String)]
                {
                    let refusal = try #require(try await daemon.refusal(method, params), "\(method) \(host)")
                    #expect(refusal.code == -32004 && refusal.reason == "rejected_by_policy", "\(refusal)")
                    #expect(refusal.path == path && refusal.message.contains(reason), "\(refusal)")
                }
                for arguments in [("test", "https://\(host):\(server.port)/"), ("pin", "\(host):\(server.port)")] {
                    let told = try await daemon.ctl("policy", arguments.0, arguments.1)
                    #expect(!told.isSuccess && told.errors.contains(reason), "\(told)")
                }
            }
            #expect(server.counts.connections == 0)
            try daemon.configure(["network": ["allow_hosts": "[127.0.0.1]"]])
            daemon.reload()
            try await eventually("the address is allowed") {
                try await daemon.refusal("policy.pin", ["host": "127.0.0.1", "port": .integer(Int64(server.port))])
                    == nil
            }
            #expect(try await daemon.refusal("policy.pin", ["host": "localhost"])?.code == -32004)
            #expect(server.counts.connections > 0)
        }
    }

    @Test func changedAdmissionListsApplyWhileTasksRun() async throws {
        let server = try await FaultServer()
        server.serve("/f", source)
        try await withDaemon { daemon in
            // A minute under the limit, so that the download cannot end before the lists change.
            let slow = try await daemon.add(server.url("/f"), ["max_recv_rate": 5_000])
            try await daemon.waitForBytes(1, of: slow)
            try daemon.configure(["network": ["deny_addresses": "127.0.0.1"]])
            daemon.reload()
            let view = try await daemon.fails(slow, "rejected_by_policy")
            #expect(view.received > 0, "its bytes are kept")
            #expect(try await daemon.refusal("task.add", ["url": .string(server.url("/f"))])?.code == -32004)

            try daemon.configure([:])
            daemon.reload()
            try await eventually("the lists are gone") {
                try await daemon.refusal("task.add", ["url": .string(server.url("/f")), "paused": true]) == nil
            }
            _ = try await daemon.call("task.retry", ["ids": [.integer(slow)]])
            _ = try await daemon.call("task.update", ["id": .integer(slow), "changes": ["max_recv_rate": 0]])
            try expectFile(try await daemon.complete(slow), is: source)
        }
    }
}
