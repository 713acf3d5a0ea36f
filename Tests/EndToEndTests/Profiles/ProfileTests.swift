import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// Profiles over RPC: what is kept, what tasks take over, and what stays the profile's.
@Suite struct ProfileTests {
    private func server() async throws -> FaultServer {
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(200, text: "ok") }
        return server
    }

    @Test func profilesAreKeptShownWithoutSecretsAndRemoved() async throws {
        try await withDaemon { daemon in
            let written = try await daemon.setProfile([
                "name": "api", "base_url": "https://api.test/v1", "headers": ["X-Env": "one", "X-Api-Key": "pl4nted"],
                "credential": ["scheme": "bearer", "secret": "pl4nted"], "idle_timeout": 7, "cookies": "jar",
            ])
            #expect(written["base_url"] == "https://api.test/v1/" && written["origin"] == "rpc")
            #expect(written["headers"] == ["X-Env": "one", "X-Api-Key": "***"])
            #expect(written["credential"]?["secret"] == "***")
            try await daemon.setProfile(["name": "b", "accept_types": ["json"]])
            await daemon.kill9()
            try await daemon.start()
            #expect(try await daemon.call("profile.get", ["name": "api"])["profile"] == written)
            let listed = try await daemon.call("profile.list")["profiles"]?.arrayValue ?? []
            #expect(listed.map { $0["name"] } == ["api", "b"] && listed.first == written)
            // The whole profile is replaced.
            let second = try await daemon.setProfile(["name": "api", "base_url": "https://api.test/v2/"])
            #expect(second["headers"] == nil && second["credential"] == nil)

            let shown = try await daemon.ctl("profile", "show", "api")
            #expect(shown.isSuccess && shown.output.contains("https://api.test/v2/"), "\(shown)")
            #expect(try await daemon.ctl("profile", "remove", "b").isSuccess)
            #expect(try await daemon.refusal("profile.get", ["name": "b"])?.code == -32001)
            #expect(try await daemon.refusal("profile.remove", ["name": "b"])?.code == -32001)
            #expect(try await daemon.refusal("task.add", ["url": "x", "profile": "b"])?.path == "profile")
            #expect(!daemon.log.contains("pl4nted"))
        }
    }

    @Test func badProfilesAreRefusedAndNothingIsStored() async throws {
        let cases: [(fields: JSONObject, path: String)] = [
            (["name": "A b"], "profile.name"), (["base_url": "ftp://a.test/"], "profile.base_url"),
            (["base_url": "https://u:p@a.test/"], "profile.base_url"),
            (["base_url": "https://a.test/?q=1"], "profile.base_url"),
            (["headers": ["X": "a\r\nb"]], "profile.headers.X"), (["accept_types": ["jsn"]], "profile.accept_types[0]"),
            (["languages": ["no such"]], "profile.languages[0]"), (["proxy": "ftp://a.test"], "profile.proxy"),
            (["credential": ["scheme": "bearer", "secret": "x"]], "profile.credential"),
            (["client_cert": ["certificate": "/no/c.pem", "key": "/no/k.pem"]], "profile.client_cert"),
            (["header_rules": [["hosts": ["*.*.org"]]]], "profile.header_rules[0].hosts[0]"),
            (["nonsense": 1], "profile.nonsense"),
        ]
        try await withDaemon { daemon in
            for (fields, path) in cases {
                var profile: JSONObject = ["name": "a"]
                for (key, value) in fields.members { profile[key] = value }
                let refusal = try await daemon.refusal("profile.set", ["profile": .object(profile)])
                #expect(refusal?.code == -32602 && refusal?.path == path, "\(path): \(String(describing: refusal))")
            }
            #expect(try await daemon.call("profile.list")["profiles"]?.arrayValue?.isEmpty == true)
        }
    }

    @Test func aTaskCopiesUnsetFieldsFromItsProfileAndKeepsThemWhenItChanges() async throws {
        let server = try await server()
        try await withDaemon { daemon in
            func profile(_ value: String) -> JSONObject {
                [
                    "name": "api", "base_url": .string(server.url("/v1")),
                    "headers": ["X-Env": .string(value), "X-B": "b"],
                    "languages": ["de"], "credential": ["scheme": "bearer", "secret": .string("token-\(value)")],
                ]
            }
            try await daemon.setProfile(profile("one"))
            let fields: JSONObject = ["profile": "api", "kind": "data", "paused": true]
            let old = try await daemon.add("old", fields)
            var own = fields
            own["headers"] = ["X-Env": "mine", "X-B": .null]
            own["credential"] = ["user": "me", "password": "pw"]
            let mine = try await daemon.add("mine", own)
            try await daemon.setProfile(profile("two"))
            let new = try await daemon.add("new", fields)
            _ = try await daemon.call("task.resume", ["ids": [.integer(old), .integer(mine), .integer(new)]])
            for id in [old, mine, new] { try await daemon.complete(id) }
            func sent(_ path: String, _ name: String) -> String? { server.requests(to: path).first?.header(name) }
            #expect([sent("/v1/old", "X-Env"), sent("/v1/new", "X-Env")] == ["one", "two"])
            #expect(sent("/v1/old", "Accept-Language") == "de;q=1.0")
            #expect(sent("/v1/mine", "X-Env") == "mine" && sent("/v1/mine", "X-B") == nil)
            // The credential stays the profile's, looked up for each attempt.
            #expect(sent("/v1/old", "Authorization") == "Bearer token-two")
            #expect(sent("/v1/mine", "Authorization") == "Basic bWU6cHc=")
            #expect(try await daemon.task(old)["profile"] == "api")
        }
    }

    @Test func aTaskOutlivesItsRemovedProfileUnlessItNeedsItsCredential() async throws {
        let server = try await server()
        try await withDaemon { daemon in
            let credential: JSONValue = ["scheme": "bearer", "secret": "t0ken"]
            let profile: JSONObject = ["name": "api", "base_url": .string(server.url("/")), "credential": credential]
            try await daemon.setProfile(profile)
            try await daemon.setProfile(["name": "plain", "headers": ["X-Env": "one"]])
            let paused: JSONObject = ["kind": "data", "paused": true]
            func add(_ path: String, _ name: String, _ more: JSONObject = [:]) async throws -> Int64 {
                var fields = paused
                fields["profile"] = .string(name)
                for (key, value) in more.members { fields[key] = value }
                return try await daemon.add(server.url(path), fields)
            }
            let needing = try await add("/needing", "api")
            let unset = try await add("/unset", "api", ["credential": .null])
            let own = try await add("/own", "api", ["credential": ["user": "me", "password": "pw"]])
            let plain = try await add("/plain", "plain")
            for name in ["api", "plain"] { _ = try await daemon.call("profile.remove", ["name": .string(name)]) }
            _ = try await daemon.call(
                "task.resume", ["ids": .array([needing, unset, own, plain].map(JSONValue.integer))])
            let failed = try await daemon.fails(needing, "credential_missing")
            #expect(failed.errorMessage.contains("\"api\"") && server.requests(to: "/needing").isEmpty)
            for id in [unset, own, plain] { try await daemon.complete(id) }
            #expect(server.requests(to: "/unset").first?.header("Authorization") == nil)
            #expect(server.requests(to: "/plain").first?.header("X-Env") == "one")

            try await daemon.setProfile(profile)
            _ = try await daemon.call("task.retry", ["ids": [.integer(needing)]])
            try await daemon.complete(needing)
            #expect(server.requests(to: "/needing").first?.header("Authorization") == "Bearer t0ken")
        }
    }

    @Test func profilesOfTheConfigurationCannotBeChangedOverRPC() async throws {
        let server = try await server()
        let configured = ["profiles": ["site": "{base_url: \"\(server.url("/site"))\", headers: {X-Env: file}}"]]
        try await withDaemon(DaemonFixture.Options(settings: configured)) { daemon in
            let site = try await daemon.call("profile.get", ["name": "site"])["profile"]
            #expect(site?["origin"] == "configuration")
            let changed = try await daemon.refusal("profile.set", ["profile": ["name": "site"]])
            #expect(changed?.code == -32005 && changed?.reason == "read_only")
            #expect(try await daemon.refusal("profile.remove", ["name": "site"])?.reason == "read_only")
            try await daemon.complete(try await daemon.add("a", ["profile": "site", "kind": "data"]))
            #expect(server.requests(to: "/site/a").first?.header("X-Env") == "file")

            // Dropped by a reload, it may be written over RPC.
            try daemon.configure([:])
            daemon.reload()
            try await eventually("the profile is gone") {
                try await daemon.refusal("profile.get", ["name": "site"]) != nil
            }
            #expect(try await daemon.setProfile(["name": "site"])["origin"] == "rpc")
        }
    }

    /// The answer to an add was lost, and the profile changes before the client repeats the add.
    @Test func aRepeatedAddIsRecognisedAfterItsProfileChanged() async throws {
        try await withDaemon { daemon in
            try await daemon.setProfile([
                "name": "api", "base_url": "http://127.0.0.1:1/v1/", "headers": ["X-Env": "one"],
            ])
            let fields: JSONObject = [
                "profile": "api", "paused": true, "client_key": "job-1", "kind": "data", "method": "POST",
                "body": ["json": ["b": 1, "a": [2]]], "headers": ["X-A": "1", "X-B": "2"],
            ]
            let id = try await daemon.add("x", fields)
            try await daemon.setProfile(["name": "api", "base_url": "http://127.0.0.1:1/v2/", "idle_timeout": 3])
            #expect(try await daemon.add("x", fields) == id)
            await daemon.kill9()
            try await daemon.start()
            var reordered = fields
            reordered["headers"] = ["X-B": "2", "X-A": "1"]
            #expect(try await daemon.add("x", reordered) == id)
            #expect(try await daemon.task(id)["url"] == "http://127.0.0.1:1/v1/x")

            for (name, value) in [
                ("priority", "low"), ("headers", ["X-A": "2", "X-B": "2"]), ("body", ["json": ["b": 1, "a": [3]]]),
                ("idle_timeout", .null),
            ] as [(String, JSONValue)] {
                var other = fields
                other[name] = value
                other["url"] = "x"
                let refusal = try await daemon.refusal("task.add", .object(other))
                #expect(refusal?.code == -32005 && refusal?.reason == "key_reused", "\(name)")
            }
        }
    }
}

extension DaemonFixture {
    /// Writes a profile and gives it as it is shown.
    @discardableResult
    func setProfile(_ profile: JSONObject) async throws -> JSONValue {
        let result = try await call("profile.set", ["profile": .object(profile)])
        return result["profile"] ?? result
    }
}
