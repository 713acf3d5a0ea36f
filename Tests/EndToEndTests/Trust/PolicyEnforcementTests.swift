import StrictJSON
import Testing
import XferTestSupport

/// What tasks meet: every connection and every hop is held to the policies in force.
@Suite struct PolicyEnforcementTests {
    private let trust: TrustFixture

    init() throws { trust = try TrustFixture() }

    @Test func aStrictTaskNeverReusesALaxConnection() async throws {
        let leaf = try TestCA.selfSigned()
        var options = TLSServer.Options(chain: leaf.certificate, privateKey: leaf.privateKey)
        options.offersResumption = true
        let server = try TLSServer(options)
        let url = "https://localhost:\(server.port)/f"
        try await withDaemon(trust.options()) { daemon in
            try await daemon.fails(try await daemon.add(url), "trust_rejected")
            try await daemon.pin(
                "lax", "localhost:\(server.port)", [],
                ["mode": "none", "allow_invalid_certificates": true, "validates_domain_name": false])
            try await daemon.pin("strict", "localhost", [TrustFixture.foreignPin])
            let before = server.counts
            try await daemon.complete(try await daemon.add(url))
            try await daemon.complete(try await daemon.add(url))
            // The second lax task may use the first one's connection: it is kept alive.
            #expect(server.counts.connections - before.connections == 1)
            let view = try await daemon.finish(try await daemon.add(url, ["policy": "strict"]))
            #expect(view.state == "failed" && view.errorReason == "trust_rejected", "\(view.json.text)")
            #expect(view.errorMessage.contains("\"strict\"") && view.errorMessage.contains(leaf.keyPin))
            #expect(server.counts.connections - before.connections == 2)
            #expect(server.counts.requests.count == 2)
            #expect(server.counts.resumptions == 0)
            #expect(daemon.log.contains("allows invalid certificates"))
        }
    }

    @Test func everyRedirectHopIsJudgedByItsOwnPolicy() async throws {
        let leaf = try trust.authority.issue()
        let end = try trust.server(leaf)
        let start = try trust.server(leaf) { options in
            options.status = "302 Found"
            options.headers = "Location: https://localhost:\(end.port)/end\r\n"
        }
        let url = "https://localhost:\(start.port)/"
        try await withDaemon(trust.options()) { daemon in
            // Pinned to unpinned.
            try await daemon.pin("first", "localhost:\(start.port)", [leaf.keyPin])
            try await daemon.complete(try await daemon.add(url))
            // And to a host whose pins are others.
            try await daemon.pin("second", "localhost:\(end.port)", [TrustFixture.foreignPin])
            let view = try await daemon.fails(try await daemon.add(url), "pin_mismatch")
            #expect(view.errorMessage.contains("\"second\""))
            #expect(view.json["attempts"] == 1)
            #expect(end.counts.requests.count == 1)
        }
    }

    @Test func aRedirectToPlainHTTPIsRefusedWhereThePolicyPins() async throws {
        let plain = try await FaultServer()
        plain.serve("/f", SourceVersion.tagged(1, length: 100))
        let leaf = try trust.authority.issue()
        let start = try trust.server(leaf) { options in
            options.status = "302 Found"
            options.headers = "Location: \(plain.url("/f"))\r\n"
        }
        try await withDaemon(trust.options()) { daemon in
            try await daemon.pin("pinned", "127.0.0.1:\(plain.port)", [TrustFixture.foreignPin])
            let id = try await daemon.add("https://localhost:\(start.port)/", ["allow_downgrade": true])
            try await daemon.fails(id, "trust_rejected")
            #expect(plain.requests.isEmpty)
        }
    }

    @Test func aPolicyEditStopsRunningTasksAndJudgesThemAgain() async throws {
        let leaf = try trust.authority.issue()
        let server = try trust.server(leaf) { $0.body = String(repeating: "0123456789abcdef", count: 1 << 16) }
        let host = "localhost:\(server.port)"
        try await withDaemon(trust.options()) { daemon in
            let policy = try await daemon.pin("local", host, [leaf.keyPin])
            let id = try await daemon.add("https://\(host)/f", ["max_recv_rate": 10_000])
            try await daemon.waitForBytes(1, of: id)
            // Still good: it goes on over a new connection.
            try await daemon.pin("local", host, [TrustFixture.foreignPin, leaf.keyPin])
            try await eventually("another connection") { server.counts.connections == 2 }
            try await daemon.waitForBytes(1, of: id)
            try await daemon.pin("local", host, [TrustFixture.foreignPin])
            try await daemon.fails(id, "pin_mismatch")
            let invalidated = try await daemon.events(types: "session.invalidated")
            #expect(invalidated.first?["version"] == policy["version"] && invalidated.count == 2)
        }
    }

    @Test func aReportOnlyPolicyEmitsAViolationAndRefusesNothing() async throws {
        let leaf = try trust.authority.issue()
        let server = try trust.server(leaf)
        let host = "localhost:\(server.port)"
        try await withDaemon(trust.options()) { daemon in
            try await daemon.pin("local", host, [TrustFixture.foreignPin], ["report_only": true])
            let id = try await daemon.add("https://\(host)/f")
            try await daemon.complete(id)
            let told = try await daemon.events(of: id, types: "policy.violation")
            #expect(told.count == 1)
            #expect(told.first?["policy"] == "local" && told.first?["reason"] == "pin_mismatch")
            #expect(told.first?["chain"]?.arrayValue?.first?["pin"] == .string(leaf.keyPin))
        }
    }
}
