import StrictJSON
import Testing
import XferTestSupport

/// Rows that a damaged disk left unreadable, and a start on them.
@Suite struct DamagedRowStartTests {
    /// Stops the daemon, changes its database and starts it again.
    private func restart(_ daemon: DaemonFixture, after statement: String) async throws {
        try await daemon.stop()
        try await damage(daemon, statement)
        try await daemon.start()
    }

    /// Changes the database on a connection of its own.
    private func damage(_ daemon: DaemonFixture, _ statement: String) async throws {
        let damage = """
            import sqlite3
            with sqlite3.connect('\(daemon.stateDirectory)/xferd.sqlite') as db:
                db.execute("PRAGMA ignore_check_constraints = 1")
                db.execute("\(statement)")
            """
        let damaged = try await Command.run(try #require(Command.find("python3")), ["-c", damage])
        #expect(damaged.isSuccess, "\(damaged)")
    }

    private func damagedRows(_ daemon: DaemonFixture) async throws -> JSONValue? {
        try await daemon.call("daemon.status")["damaged_rows"]
    }

    @Test func aDamagedProfileIsNamedAndHasNoEffectUntilItIsSetAgain() async throws {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(1, length: 1000)
        server.serve("/f", source)
        try await withDaemon { daemon in
            for name in ["bad", "good"] {
                let profile: JSONValue = ["name": .string(name), "allow_metered": true]
                _ = try await daemon.call("profile.set", ["profile": profile])
            }
            try await restart(daemon, after: "UPDATE profile SET profile = '{bad' WHERE name = 'bad'")
            #expect(daemon.log.contains("a row of the database is damaged and has no effect"))
            #expect(try await damagedRows(daemon) == ["profile \"bad\""])
            let doctor = try await daemon.ctl("doctor")
            #expect(doctor.exit == .code(1) && doctor.output.contains("profile \"bad\""), "\(doctor)")
            let listed = try await daemon.call("profile.list")["profiles"]?.arrayValue ?? []
            #expect(listed.map { $0["name"] } == ["good"])
            let refused = try await daemon.refusal("task.add", ["url": .string(server.url("/f")), "profile": "bad"])
            let refusal = try #require(refused)
            #expect(refusal.path == "profile" && "\(refusal)".contains("damaged"), "\(refusal)")
            let id = try await daemon.add(server.url("/f"), ["profile": "good"])
            try expectFile(try await daemon.complete(id), is: source)
            _ = try await daemon.call("profile.set", ["profile": ["name": "bad", "allow_metered": true]])
            #expect(try await damagedRows(daemon) == nil)
            let other = try await daemon.add(server.url("/f"), ["profile": "bad", "output": "g"])
            try expectFile(try await daemon.complete(other), is: source)
        }
    }

    @Test func aProfileThatIsDamagedWhileTheDaemonRunsIsNamedEverywhere() async throws {
        try await withDaemon { daemon in
            for name in ["bad", "good"] {
                _ = try await daemon.call("profile.set", ["profile": ["name": .string(name), "allow_metered": true]])
            }
            try await damage(daemon, "UPDATE profile SET profile = '{bad' WHERE name = 'bad'")
            let listed = try await daemon.ctl("profile")
            #expect(listed.isSuccess && listed.output.contains("good") && !listed.output.contains("bad"), "\(listed)")
            #expect(
                listed.errors.contains("the profile \"bad\" is damaged in the database: set it again"), "\(listed)")
            #expect(daemon.log.contains("a row of the database is damaged and has no effect"))
            #expect(try await damagedRows(daemon) == ["profile \"bad\""])
            let status = try await daemon.ctl("status")
            #expect(status.output.contains("damaged in the database: profile \"bad\""), "\(status)")
            let doctor = try await daemon.ctl("doctor")
            #expect(doctor.exit == .code(1) && doctor.output.contains("profile \"bad\""), "\(doctor)")
            #expect(try await daemon.ctl("profile", "remove", "bad").isSuccess)
            #expect(try await damagedRows(daemon) == nil)
        }
    }

    @Test func aDamagedTaskIsNamedEverywhereAndCanBeCancelledAndRemoved() async throws {
        let server = try await FaultServer()
        try await withDaemon { daemon in
            let id = try await daemon.add(server.url("/a"), ["paused": true])
            _ = try await daemon.add(server.url("/b"), ["paused": true])
            try await restart(daemon, after: "UPDATE task SET options = '{bad' WHERE id = \(id)")
            let listed = try await daemon.ctl("list")
            #expect(listed.isSuccess, "\(listed)")
            #expect(listed.errors.contains("damaged in the database: #\(id)"), "\(listed)")
            #expect(try await damagedRows(daemon) == [.string("task \(id)")])
            let doctor = try await daemon.ctl("doctor")
            #expect(doctor.exit == .code(1) && doctor.output.contains("xferctl cancel \(id)"), "\(doctor)")
            #expect(try await daemon.ctl("cancel", "\(id)").isSuccess)
            #expect(try await daemon.ctl("remove", "\(id)").isSuccess)
            #expect(try await damagedRows(daemon) == nil)
            let rest = try await daemon.ctl("list")
            #expect(rest.isSuccess && !rest.errors.contains("damaged"), "\(rest)")
        }
    }

    /// It may have pinned any host.
    @Test func aDamagedPolicyKeepsTransfersFromStartingUntilItIsRemoved() async throws {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(2, length: 1000)
        server.serve("/f", source)
        try await withDaemon { daemon in
            _ = try await daemon.call(
                "policy.set", ["policy": ["name": "bad", "hosts": ["bad.test"], "mode": "none"]])
            try await restart(daemon, after: "UPDATE policy SET policy = '{bad' WHERE name = 'bad'")
            let id = try await daemon.add(server.url("/f"))
            let task = try await daemon.task(id)
            #expect(task["state"] == "queued" && task["wait"]?["reason"] == "storage", "\(task.text)")
            let status = try await daemon.call("daemon.status")
            #expect(status["degraded"] == true && status["damaged_rows"] == ["trust policy \"bad\""], "\(status.text)")
            #expect(status["degraded_reason"]?.stringValue?.contains("\"bad\"") == true, "\(status.text)")
            let test = try await daemon.refusal("policy.test", ["url": "https://127.0.0.1:9/"])
            #expect(test?.message.contains("damaged") == true)
            #expect(server.requests.isEmpty)
            let removed = try await daemon.ctl("policy", "remove", "bad")
            #expect(removed.isSuccess, "\(removed)")
            try expectFile(try await daemon.complete(id), is: source)
            #expect(try await daemon.call("daemon.status")["degraded"] == false)
            #expect(try await damagedRows(daemon) == nil)
        }
    }

    @Test func aDamagedTokenIsRefusedAndCanBeRevoked() async throws {
        try await withDaemon { daemon in
            for name in ["bad", "good"] {
                _ = try await daemon.call("token.add", ["name": .string(name), "scope": "read"])
            }
            try await restart(daemon, after: "UPDATE token SET scope = 'all' WHERE name = 'bad'")
            #expect(try await damagedRows(daemon) == ["token \"bad\""])
            let listed = try await daemon.call("token.list")["tokens"]?.arrayValue ?? []
            #expect(listed.map { $0["name"] } == ["good"])
            let refusal = try await daemon.refusal("token.add", ["name": "bad", "scope": "read"])
            #expect(refusal?.reason == "in_use")
            _ = try await daemon.call("token.revoke", ["name": "bad"])
            #expect(try await damagedRows(daemon) == nil)
            _ = try await daemon.call("token.add", ["name": "bad", "scope": "read"])
        }
    }

    @Test(arguments: [
        ("profiles", "{allow_metered: true}", "UPDATE profile SET profile = '{bad'"),
        ("trust", "[{name: site, hosts: [site.test], mode: none}]", "UPDATE policy SET policy = '{bad'"),
    ]) func whatTheConfigurationHasIsWrittenAgain(section: String, value: String, statement: String) async throws {
        var options = DaemonFixture.Options()
        options.settings = [section: [section == "trust" ? "policies" : "site": value]]
        try await withDaemon(options) { daemon in
            try await restart(daemon, after: statement)
            #expect(try await damagedRows(daemon) == nil)
            let status = try await daemon.call("daemon.status")
            #expect(status["degraded"] == false, "\(status.text)")
            let list = try await daemon.call(section == "trust" ? "policy.list" : "profile.list").text
            #expect(list.contains("site"), "\(list)")
        }
    }
}
