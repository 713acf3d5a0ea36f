import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// Where a secret lies in the database: given as a value, in the columns requests are made of and nowhere else; given by
/// reference, nowhere.
@Suite struct PlantedSecretTests {
    /// Secrets, each planted in one place, and the columns that may hold it.
    private static let values: [(secret: String, columns: [String])] = [
        ("pl4nted-credential", ["task.options"]), ("pl4nted-userinfo", ["task.options"]),
        ("pl4nted-header", ["task.options"]), ("pl4nted-proxy", ["task.options"]),
        ("pl4nted-query", ["task.final_url", "task.url"]),
        ("pl4nted-profile", ["profile.profile"]),
    ]

    /// Prints every column of every table that holds one of the texts, as `text table.column`.
    private static let reader = """
        import sqlite3, sys
        database = sqlite3.connect("file:%s?mode=ro" % sys.argv[1], uri=True)
        tables = [row[0] for row in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")]
        assert "task" in tables and "event" in tables
        for table in tables:
            rows = database.execute("SELECT * FROM %s" % table)
            columns = [column[0] for column in rows.description]
            for row in rows:
                for column, value in zip(columns, row):
                    text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
                    for secret in sys.argv[2:]:
                        if secret in text: print(secret, "%s.%s" % (table, column))
        """

    private func columns(holding secrets: [String], in daemon: DaemonFixture) async throws -> [String: [String]] {
        let python = try #require(Command.find("python3"))
        let read = try await Command.run(
            python, ["-c", Self.reader, daemon.stateDirectory + "/xferd.sqlite"] + secrets)
        #expect(read.isSuccess, "\(read)")
        let pairs = Set(read.output.split(separator: "\n").map(String.init)).map {
            $0.split(separator: " ").map(String.init)
        }
        return Dictionary(grouping: pairs) { $0[0] }.mapValues { $0.map { $0[1] }.sorted() }
    }

    @Test(.enabled(if: Command.find("python3") != nil))
    func givenSecretsAreStoredOnlyWithTheirRequestAndReferencedSecretsNowhere()
        async throws
    {
        let server = try await FaultServer()
        server.on("/fail") { _ in Reply(500, text: "no") }
        server.on("/away") { request in .redirect(to: "/end?access_token=pl4nted-query&code=pl4nted-query") }
        server.onAnyOther { _ in Reply(200, text: "ok") }
        let references = ["pl4nted-by-file", "pl4nted-by-variable"]
        var options = DaemonFixture.Options(settings: ["log": ["level": "trace"]])
        options.environment = ["PLANTED": references[1]]
        let scripts = try TemporaryDirectory("hooks")
        try FileTree.write("#!/bin/sh\ncat >> \(scripts.file("told"))\n", to: scripts.file("tell"), mode: 0o755)
        options.settings["hooks"] = ["tell": "{argv: [\"\(scripts.file("tell"))\"]}"]
        try await withDaemon(options) { daemon in
            let file = daemon.directory.file("token")
            try FileTree.write(references[0], to: file, mode: 0o600)
            try await daemon.setProfile([
                "name": "api", "base_url": .string(server.url("/")),
                "credential": ["scheme": "bearer", "secret": "pl4nted-profile"],
            ])
            let proxy: JSONValue = [
                "url": .string("http://127.0.0.1:\(server.port)"),
                "credential": ["user": "ada", "password": "pl4nted-proxy"],
            ]
            for path in ["/ok", "/fail", "/away"] {
                let url = server.url(path)
                let tasks: [JSONObject] = [
                    ["url": .string(url), "credential": ["user": "me", "password": "pl4nted-credential"]],
                    ["url": .string(url.replacing("http://", with: "http://me:pl4nted-userinfo@"))],
                    [
                        "url": .string(url),
                        "headers": [
                            "X-Api-Key": "pl4nted-header", "Cookie": "s=pl4nted-header", "Api-Secret": "pl4nted-header",
                            "X-Password": "pl4nted-header",
                        ],
                    ],
                    ["url": .string(url), "proxy": proxy], ["url": .string("\(url)?token=pl4nted-query")],
                    ["url": .string("\(url)?code=pl4nted-query&jwt=pl4nted-query&auth=pl4nted-query")],
                    ["url": .string(url), "profile": "api"],
                    ["url": .string(url), "credential": ["scheme": "bearer", "secret": ["file": .string(file)]]],
                    ["url": .string(url), "credential": ["scheme": "bearer", "secret": ["env": "PLANTED"]]],
                ]
                for task in tasks {
                    var fields = task
                    fields["max_retries"] = 0
                    (fields["on_complete"], fields["on_error"]) = ("tell", "tell")
                    fields["url"] = nil
                    let url = task["url"]?.stringValue ?? ""
                    _ = try await daemon.finish(try await daemon.add(url, fields))
                    fields["kind"] = "data"
                    _ = try await daemon.finish(try await daemon.add(url, fields))
                }
            }
            // All of them went where they should.
            let shown = server.requests.map { $0.headers.map(\.value).joined(separator: " ") }
            for secret in references + ["pl4nted-profile"] {
                #expect(shown.contains { $0.contains(secret) }, "\(secret)")
            }

            let all = Self.values.map(\.secret) + references
            let found = try await columns(holding: all, in: daemon)
            for (secret, columns) in Self.values { #expect(found[secret] == columns, "\(secret)") }
            for secret in references {
                #expect(found[secret] == nil, "\(secret)")
                for name in try FileTree.entries(below: daemon.stateDirectory) where !name.hasSuffix("/") {
                    let isThere = try FileTree.text("\(daemon.stateDirectory)/\(name)").contains(secret)
                    #expect(!isThere, "\(secret) in \(name)")
                }
            }
            let listings = try await daemon.call("task.list", ["filter": ["all": true], "limit": 1000]).text
            let events = try await daemon.events().map(\.text).joined()
            try await eventually("a hook has run") { FileTree.exists(scripts.file("told")) }
            let told = try FileTree.text(scripts.file("told"))
            for secret in all {
                #expect(!told.contains(secret), "\(secret)")
                #expect(!listings.contains(secret) && !events.contains(secret), "\(secret)")
                #expect(!daemon.log.contains(secret), "\(secret)")
            }
        }
    }
}
