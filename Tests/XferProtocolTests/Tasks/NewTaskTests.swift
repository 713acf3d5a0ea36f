import StrictJSON
import Testing
import XferModel
import XferProtocol

private let url = HTTPURL(scheme: .https, host: "example.org", port: 443, target: "/f")
private let defaults = TaskDefaults(
    directory: "/srv/in", retry: RetryLimits(retryFor: 99))

private func specification(_ json: JSONValue) throws -> TaskSpecification {
    try NewTask(strict: json).specification(
        owner: Owner(uid: 7), request: TransferRequest(url: url), defaults: defaults)
}

struct NewTaskTests {
    @Test func everyFieldReachesTheSpecification() throws {
        let made = try specification([
            "url": "https://example.org/f", "kind": "download", "method": "GET", "headers": ["Accept": "a/b"],
            "output": "x.bin", "dir": "/data", "on_conflict": "overwrite",
            "checksum": "md5=d41d8cd98f00b204e9800998ecf8427e", "mode": "0600", "remote_time": true,
            "priority": "high", "group": "g", "label": "l", "client_key": "k", "paused": true, "max_retries": 3,
            "retry_for": 60, "max_recv_rate": 1024, "resume": "unsafe", "redirect": "same_origin",
            "allow_downgrade": true, "http_version": "1.1", "connect_timeout": 5, "idle_timeout": .number(2.5),
            "total_timeout": 0, "accept_status": "200-206", "credential": ["user": "u", "password": "p"],
            "progress_interval": 1, "meta": ["b": 1, "a": [nil, true]], "profile": "p", "max_send_rate": 5,
            "retry_non_idempotent": true,
        ])
        let wanted = TaskSpecification(
            owner: Owner(uid: 7), request: TransferRequest(url: url),
            destination: Destination(
                directory: "/data", name: "x.bin", onConflict: .overwrite, mode: FileMode(bits: 0o600),
                usesRemoteTime: true),
            checksum: try Checksum(parsing: "md5=d41d8cd98f00b204e9800998ecf8427e"),
            retry: RetryLimits(maxRetries: 3, retryFor: 60), startsPaused: true, priority: .high, group: "g",
            label: "l", clientKey: "k", maxReceiveRate: 1024, progressInterval: 1, resumesUnsafely: true,
            meta: #"{"b":1,"a":[null,true]}"#, profile: "p", maxSendRate: 5, retriesNonIdempotent: true)
        #expect(made == wanted)
    }

    @Test func unsetFieldsComeFromTheDefaults() throws {
        let made = try specification(["url": "x"])
        #expect(made.destination == Destination(directory: "/srv/in"))
        #expect(made.retry == RetryLimits(retryFor: 99))
        #expect(made.priority == .normal)
        #expect(!made.startsPaused)
    }

    @Test func theResponseOfAnUploadIsNotAFile() throws {
        let made = try specification([
            "url": "x", "kind": "upload", "source": "/f", "upload": "resumable", "spool": true, "parse": ["json"],
            "strip_nulls": true,
        ])
        #expect(made.destination == .none)
        #expect(made.upload == UploadOptions(uploadProtocol: .resumable, isSpooled: true))
        #expect(made.response == ResponseHandling(parsers: [.json], stripsNulls: true))
    }

    @Test(
        arguments: [
            (nil, nil, "/srv/in", nil), ("/d", nil, "/d", nil), ("/d", "n", "/d", "n"), ("/d/", "a/n", "/d/a", "n"),
            ("/d", "/e/n", "/e", "n"), ("/d", "/n", "/", "n"), (nil, "n", "/srv/in", "n"),
        ] as [(String?, String?, String, String?)])
    func dirAndOutputAreJoinedIntoOnePath(dir: String?, output: String?, directory: String, name: String?) {
        var task = NewTask(url: "x")
        task.dir = dir
        task.output = output
        let destination = task.destination(defaultDirectory: "/srv/in")
        #expect(destination.directory == directory)
        #expect(destination.name == name)
    }

    @Test(
        arguments: [
            ("url", ""), ("url", nil), ("url", 3), ("dir", "relative"), ("dir", ""), ("output", ""), ("output", "a/"),
            ("output", ".."), ("output", "a/."), ("output", "a\u{0}"), ("group", ""), ("kind", "stream"),
            ("method", "TRACE"), ("max_retries", -1), ("retry_for", -1), ("max_recv_rate", -1),
            ("progress_interval", 0),
            ("connect_timeout", -1), ("credential", ["user": "u"]), ("credential", ["user": "a:b", "password": "p"]),
            ("client_key", .string(String(repeating: "k", count: 129))),
            ("output", .string(String(repeating: "n", count: 256))),
            ("meta", .string(String(repeating: "m", count: 16_384))), ("checksum", "sha-256=00"), ("resume", "always"),
            ("segments", 1000), ("segments", 0), ("segments", "many"),
            ("slot", .string(String(repeating: "s", count: 129))), ("urls", ["x"]),
        ] as [(String, JSONValue)])
    func anInvalidFieldIsRefusedByName(field: String, value: JSONValue) {
        var json: JSONObject = ["url": "http://example.org/"]
        json[field] = value
        let error = #expect(throws: WireError.self) { try NewTask(strict: .object(json)) }
        #expect(error?.path.hasPrefix(field) == true)
    }

    @Test(
        arguments: [
            (["urls": ["http://a/", "http://b/"]], nil),
            (["url": "http://a/", "urls": ["http://a/", "http://b/"]], "urls"),
            (["label": "l"], "url"), (["urls": ["http://a/"]], "urls"), (["urls": ["http://a/", ""]], "urls[1]"),
            (["urls": ["http://a/", 3]], "urls[1]"),
            (["urls": .array((0..<17).map { .string("http://a/\($0)") })], "urls"),
            (["urls": ["http://a/", "http://b/"], "kind": "data"], nil),
            (["urls": ["http://a/", "http://b/"], "kind": "upload", "source": "/x"], "urls"),
            (["urls": ["http://a/", "http://b/"], "method": "POST"], "urls"),
            (["urls": ["http://a/", "http://b/"], "body": ["raw": "x"]], "urls"),
        ] as [(JSONValue, String?)])
    func aTaskHasOneURLOrMirrors(json: JSONValue, field: String?) {
        do throws(WireError) {
            let task = try NewTask(strict: json)
            #expect(field == nil && task.firstURL == "http://a/" && task.mirrors == ["http://b/"])
        } catch {
            #expect(error.path == field, "\(error)")
        }
    }

    @Test func aBatchNamesTheTaskAtFault() {
        let error = #expect(throws: WireError.self) {
            try TaskAdd.Params(strict: ["tasks": [["url": "a"], ["url": "b", "chekcsum": "x"]]])
        }
        #expect(error?.path == "tasks[1].chekcsum")
        #expect(error?.expected.contains("\"checksum\"") == true)
    }

    @Test func aBatchWithFieldsBesideItsTasksIsRefused() {
        let error = #expect(throws: WireError.self) {
            try TaskAdd.Params(strict: ["tasks": [["url": "a"]], "label": "x"])
        }
        #expect(error?.path == "label")
        #expect(throws: WireError.self) { try TaskAdd.Params(strict: ["tasks": []]) }
    }
}

struct TaskChangesTests {
    private func changed(_ json: JSONValue) throws -> TaskSpecification {
        var made = try specification([
            "url": "x", "output": "old", "group": "g", "label": "l", "max_retries": 3,
            "checksum": "md5=d41d8cd98f00b204e9800998ecf8427e", "credential": ["user": "u", "password": "p"],
            "meta": 1, "segments": 2,
        ])
        made.request.credential = Credential(user: "u", password: "p")
        try TaskChanges(strict: json).apply(to: &made)
        return made
    }

    @Test func anUpdateChangesOnlyNamedFields() throws {
        let before = try changed(["priority": "normal"])
        var wanted = before
        wanted.priority = .high
        wanted.maxReceiveRate = 5
        wanted.destination.name = "new"
        wanted.request.headers = [HeaderField(name: "A", value: "b")]
        wanted.request.timeouts.idle = 9
        wanted.segments = .automatic
        #expect(
            try changed([
                "priority": "high", "max_recv_rate": 5, "output": "new", "headers": ["A": "b"], "idle_timeout": 9,
                "segments": "auto",
            ]) == wanted)
    }

    @Test func nullInAnUpdateUnsetsAField() throws {
        let made = try changed([
            "group": nil, "label": nil, "meta": nil, "max_retries": nil, "output": nil, "checksum": nil,
            "credential": nil, "segments": nil,
        ])
        #expect(made.group == nil && made.label == nil && made.meta == nil && made.retry.maxRetries == nil)
        #expect(made.destination.name == nil && made.checksum == nil && made.request.credential == nil)
        #expect(made.segments == nil)
    }

    @Test func aNewDirKeepsTheName() throws {
        let destination = try changed(["dir": "/elsewhere"]).destination
        #expect(destination.directory == "/elsewhere")
        #expect(destination.name == "old")
    }

    @Test func aFieldRefusedWhileRunningIsNamed() throws {
        #expect(try TaskChanges(strict: ["priority": "low", "checksum": nil]).fieldRefusedWhileRunning == "checksum")
        #expect(try TaskChanges(strict: ["priority": "low", "meta": nil]).fieldRefusedWhileRunning == nil)
        #expect(try TaskChanges(strict: ["segments": 4]).fieldRefusedWhileRunning == "segments")
    }

    @Test(arguments: [[:], ["url": "x"], ["id": 3], ["client_key": "k"], ["priority": nil]] as [JSONValue])
    func immutableFieldsAreRefused(json: JSONValue) {
        #expect(throws: WireError.self) { try TaskChanges(strict: json) }
    }
}
