import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// `resolve`, `connect_to`, `interface`, `ip_version` and a task's own cookies, against a real server.
@Suite struct ConnectionRuleTests {
    private let source = SourceVersion.tagged(84, length: 30_000)

    private func cookies(_ server: FaultServer, _ path: String) -> [String?] {
        server.requests(to: path).map { $0.headers.firstValue(named: "Cookie") }
    }

    @Test func rulesLeadToTheServerAndHoldForTheirTaskOnly() async throws {
        let server = try await FaultServer()
        server.serve("/f", source)
        let (port, host) = (server.port, "made-up.test")
        try await withDaemon { daemon in
            let named = "http://\(host):\(port)/f"
            let rules: [JSONObject] = [
                ["resolve": [.string("\(host):\(port):127.0.0.1")]],
                ["resolve": [.string("*:\(port):127.0.0.1")], "ip_version": "4"],
                ["connect_to": [.string("\(host):\(port):127.0.0.1:")], "interface": "lo"],
                ["connect_to": ["::127.0.0.1:"], "interface": "127.0.0.1"],
            ]
            for (index, fields) in rules.enumerated() {
                var fields = fields
                fields["output"] = .string("f\(index)")
                let view = try await daemon.complete(try await daemon.add(named, fields))
                #expect(try source.equals(file: try #require(view.finalPath)))
            }
            let other = try await daemon.complete(
                try await daemon.add("http://\(host)/f", ["connect_to": [.string("\(host):80:127.0.0.1:\(port)")]]))
            #expect(try source.equals(file: try #require(other.finalPath)))
            #expect(
                server.requests(to: "/f").compactMap { $0.headers.firstValue(named: "Host") }
                    == Array(repeating: "\(host):\(port)", count: 4) + [host])
            // Without rules the name is unknown, on whatever connection was used before.
            try await daemon.fails(try await daemon.add(named, ["max_retries": 0]), "dns_failure")
        }
    }

    /// One address of the name accepts and is silent, the other one is good.
    @Test func aTaskWhoseFirstAddressIsSilentGoesOnAtTheOtherOneAndNamesTheFirst() async throws {
        let server = try await FaultServer()
        server.serve("/f", source)
        let (port, host) = (server.port, "made-up.test")
        let silent = try RawServer(address: "::1", port: port) { connection in _ = connection.readAll() }
        try await withDaemon { daemon in
            let rule = JSONValue.string("\(host):\(port):[::1],127.0.0.1")
            let id = try await daemon.add("http://\(host):\(port)/f", ["resolve": [rule], "idle_timeout": 1])
            let view = try await daemon.complete(id)
            #expect(try source.equals(file: try #require(view.finalPath)))
            let waits = try await daemon.events(of: id, types: "task.waiting")
            #expect(waits.count == 1)
            #expect(waits.first?["error"]?["message"]?.stringValue?.contains("::1") == true)
            let task = try await daemon.call("task.get", ["id": .integer(id)])["task"]
            #expect(task?["last_attempt"]?["address"] == "127.0.0.1")
            #expect(task?["last_attempt"]?["protocol"] == "HTTP/1.1")
            #expect(task?["last_attempt"]?["total"] != nil)
        }
        #expect(silent.connectionCount == 1)
    }

    @Test func anAddressFamilyOrInterfaceThatCannotReachTheServerFailsTheTask() async throws {
        let server = try await FaultServer()
        server.serve("/f", source)
        try await withDaemon { daemon in
            for fields: JSONObject in [["ip_version": "6"], ["interface": "nosuch0"], ["interface": "192.0.2.99"]] {
                var fields = fields
                fields["max_retries"] = 0
                let view = try await daemon.finish(try await daemon.add(server.url("/f"), fields))
                #expect(view.state == "failed", "\(view.json.text)")
            }
        }
        #expect(server.requests.isEmpty)
    }

    @Test func anAddressThatARuleLeadsToIsAdmittedAsAnyOther() async throws {
        let server = try await FaultServer()
        server.serve("/f", source)
        let port = server.port
        let network = ["deny_addresses": "[127.0.0.2]", "deny_hosts": "[denied.test]"]
        try await withDaemon(DaemonFixture.Options(settings: ["network": network])) { daemon in
            for fields: JSONObject in [
                ["resolve": [.string("a.test:\(port):127.0.0.2")]], ["connect_to": [.string("a.test::b.test:")]],
            ] {
                var fields = fields
                if fields["connect_to"] != nil { fields["resolve"] = [.string("b.test:\(port):127.0.0.2")] }
                fields["max_retries"] = 0
                try await daemon.fails(
                    try await daemon.add("http://a.test:\(port)/f", fields), "rejected_by_policy")
            }
            let refusal = try await daemon.refusal(
                "task.add", ["url": "http://a.test/f", "connect_to": ["a.test::127.0.0.1:", "a.test::denied.test:"]])
            #expect(refusal?.reason == "rejected_by_policy" && refusal?.path == "connect_to[1]")
            for (field, value) in [
                ("resolve", "a.test:0:127.0.0.1"), ("connect_to", "a.test"), ("interface", "a b"), ("ip_version", "5"),
            ] {
                let given: JSONValue = field.hasSuffix("n") || field == "interface" ? .string(value) : [.string(value)]
                let refusal = try await daemon.refusal("task.add", .object(["url": "http://a.test/f", field: given]))
                #expect(
                    refusal?.code == -32602 && refusal?.path?.hasPrefix(field) == true, "\(field): \(refusal as Any)")
            }
        }
        #expect(server.connectionCount == 0)
    }

    @Test func ownCookiesGoToTheirServersPathsAndSchemesOnly() async throws {
        let server = try await FaultServer()
        let port = server.port
        for path in ["/start", "/deep/f", "/set", "/after"] {
            server.on(path) { _ in
                switch path {
                case "/start": .redirect(to: "http://b.shop.test:\(port)/deep/f")
                case "/set":
                    Reply(
                        302,
                        headers: [
                            HeaderField(name: "Location", value: "/after"),
                            HeaderField(name: "Set-Cookie", value: "s=new"),
                        ], text: "")
                default: Reply(200, text: "ok")
                }
            }
        }
        func cookie(_ domain: String, _ name: String, _ more: JSONObject = [:]) -> JSONValue {
            var cookie: JSONObject = ["domain": .string(domain), "name": .string(name), "value": "planted-7"]
            for (name, value) in more.members { cookie[name] = value }
            return .object(cookie)
        }
        try await withDaemon { daemon in
            let resolve: JSONValue = [
                .string("a.shop.test:\(port):127.0.0.1"), .string("b.shop.test:\(port):127.0.0.1"),
            ]
            let list: JSONValue = [
                cookie("a.shop.test", "one"), cookie("b.shop.test", "two", ["path": "/deep"]),
                cookie("b.shop.test", "three", ["path": "/x"]),
                cookie("a.shop.test", "four", ["secure": true]),
                cookie("shop.test", "five", ["include_subdomains": true]),
                cookie("shop.test", "six"), cookie("a.shop.test", "old", ["expires": 1]),
            ]
            let fields: JSONObject = ["resolve": resolve, "cookie_list": list, "kind": "data"]
            let id = try await daemon.add("http://a.shop.test:\(port)/start", fields)
            try await daemon.complete(id)
            let sent = try #require(cookies(server, "/start").first ?? nil).split(separator: "; ").sorted()
            #expect(sent == ["five=planted-7", "one=planted-7"])
            #expect(cookies(server, "/deep/f").first??.contains("two=planted-7") == true)
            #expect(cookies(server, "/deep/f").first??.contains("three") == false)
            // What a server sets holds within the attempt, and no other task has anything of it.
            try await daemon.complete(try await daemon.add("http://a.shop.test:\(port)/set", fields))
            #expect(cookies(server, "/after").first??.contains("s=new") == true)
            try await daemon.complete(
                try await daemon.add("http://a.shop.test:\(port)/after", ["resolve": resolve, "kind": "data"]))
            #expect(cookies(server, "/after").last == .some(nil))
            let shown = try await daemon.task(id)
            #expect(shown["cookie_list"]?.arrayValue?.count == 7)
            #expect(!shown.text.contains("planted-7") && !daemon.log.contains("planted-7"))
        }
    }

    @Test func cookiesProxyAndRulesOfAFailedLoginCanBeChangedBeforeTheNextTry() async throws {
        let server = try await FaultServer()
        server.on("/f") { request in
            request.headers.firstValue(named: "Cookie") == "sid=right" ? Reply(200, text: "ok") : .failure(403)
        }
        let port = server.port
        try await withDaemon { daemon in
            let id = try await daemon.add("http://a.test:\(port)/f", ["paused": true, "proxy": "http://127.0.0.1:1"])
            let cookie: JSONValue = ["domain": "a.test", "name": "sid", "value": "right"]
            let changes: JSONValue = [
                "proxy": nil, "cookie_list": [cookie], "resolve": [.string("a.test:\(port):127.0.0.1")],
            ]
            _ = try await daemon.call("task.update", ["id": .integer(id), "changes": changes])
            _ = try await daemon.call("task.resume", ["ids": [.integer(id)]])
            let view = try await daemon.complete(id)
            #expect(view.json["proxy"] == nil)
        }
    }
}
