import StrictJSON
import Testing
import XferModel
import XferProtocol

private func makeTask(state: TaskState = .queued) -> TransferTask {
    let request = TransferRequest(
        url: HTTPURL(scheme: .https, host: "example.org", port: 443, target: "/f?token=SECRET1&x=1"),
        headers: [
            HeaderField(name: "Authorization", value: "SECRET2"), HeaderField(name: "Accept", value: "a/b"),
        ],
        credential: Credential(user: "SECRET3", password: "SECRET4"))
    var specification = TaskSpecification(
        owner: Owner(uid: 7), request: request, destination: Destination(directory: "/d", name: "n"))
    specification.meta = #"{"job":17}"#
    var task = TransferTask(
        id: TaskID(3), specification: specification, state: state, rank: 0, createdAt: Timestamp(seconds: 0))
    task.outcome.finalURL = HTTPURL(scheme: .https, host: "cdn", port: 443, target: "/f?X-Amz-Signature=SECRET5")
    task.outcome.responseHeaders = [
        HeaderField(name: "Set-Cookie", value: "SECRET6"), HeaderField(name: "Server", value: "s"),
        HeaderField(name: "Location", value: "/g?X-Amz-Signature=SECRET7&part=2"),
    ]
    task.received = 10
    return task
}

struct TaskRecordTests {
    @Test func secretsAreNeverInTheRecord() {
        let text = TaskRecord(makeTask()).wire.text
        #expect(!text.contains("SECRET"))
        #expect(text.contains("token=***"))
        #expect(text.contains("/g?X-Amz-Signature=***&part=2"))
        #expect(text.contains(#""Accept":"a/b""#))
        #expect(text.contains(#""credential":{"user":"***","password":"***"}"#))
    }

    @Test func setFieldsAppearInTheRecordUnchanged() throws {
        let json: JSONValue = [
            "url": "https://example.org/f?x=1", "kind": "download", "method": "GET", "headers": ["Accept": "a/b"],
            "output": "x.bin", "dir": "/data", "on_conflict": "update",
            "checksum": "md5=d41d8cd98f00b204e9800998ecf8427e", "mode": "0600", "remote_time": true,
            "priority": "low", "group": "g", "label": "l", "client_key": "k", "max_retries": 3, "retry_for": 60,
            "max_recv_rate": 1024, "resume": "unsafe", "redirect": "deny", "allow_downgrade": true,
            "http_version": "2", "connect_timeout": 5, "idle_timeout": .number(2.5), "total_timeout": 7,
            "accept_status": "200", "accept_types": ["a/b"], "proxy": "http://p:1", "progress_interval": 1,
            "meta": ["b": 1], "max_send_rate": 3, "retry_non_idempotent": true, "profile": "p",
        ]
        let new = try NewTask(strict: json)
        var request = TransferRequest(
            url: HTTPURL(scheme: .https, host: "example.org", port: 443, target: "/f?x=1"),
            headers: new.requestFields.headers, redirect: .deny, allowsDowngrade: true, httpVersion: .http2,
            timeouts: Timeouts(connect: 5, idle: 2.5, total: 7), acceptedStatus: StatusSet(200...200),
            acceptedTypes: ["a/b"])
        request.proxy = ProxySettings(url: "http://p:1")
        let specification = new.specification(
            owner: Owner(uid: 7), request: request, defaults: TaskDefaults(directory: "/"))
        let task = TransferTask(
            id: TaskID(1), specification: specification, state: .queued, rank: 0, createdAt: Timestamp(seconds: 0))
        let wire = TaskRecord(task).wire
        for (key, value) in try #require(json.objectValue).members {
            #expect(wire[key] == value, "\(key)")
        }
    }

    @Test func mirrorsComeOutInTheirOrderWithoutSecrets() {
        var task = makeTask()
        #expect(TaskRecord(task).urls == nil)
        task.specification.mirrors = [HTTPURL(scheme: .http, host: "b", port: 80, target: "/g?sig=SECRET9")]
        #expect(
            TaskRecord(task).urls == ["https://example.org/f?token=***&x=1", "http://b/g?sig=***"])
    }

    @Test func everyTaskFieldButAFewAppearsInTheRecord() {
        let missing = NewTask.wireFields.map(\.name).filter { TaskRecord.wireFields.index(of: $0) == nil }
        #expect(missing == ["params", "parts", "paused", "retry_failed"])
    }

    @Test func theLatestSnapshotBeatsTheLastCheckpoint() {
        let snapshot = ProgressSnapshot(
            taskID: TaskID(3), owner: Owner(uid: 7), phase: .verifying, received: 50, total: 100, rate: 25,
            connections: 3)
        let running = TaskRecord(makeTask(state: .running), progress: snapshot)
        #expect(running.phase?.value == .verifying)
        var progress = ProgressRecord(received: 50, total: 100, rate: 25, eta: 2)
        progress.connections = 3
        #expect(running.progress == progress)
        let queued = TaskRecord(makeTask())
        #expect(queued.phase == nil)
        #expect(queued.progress == ProgressRecord(received: 10, total: nil))
    }

    @Test func columnsPickFieldsAndKeepTheId() throws {
        let columns = try #require(TaskColumns(["state", "dir"]))
        let wire = TaskRecord(makeTask()).selecting(columns).wire
        #expect(wire == ["id": 3, "state": "queued", "dir": "/d"])
        #expect(TaskRecord(makeTask()).selecting(.listing).responseHeaders == nil)
        #expect(TaskRecord(makeTask()).selecting(.listing).etag == TaskRecord(makeTask()).etag)
    }

    @Test func anUnknownColumnIsNamed() {
        let error = #expect(throws: WireError.self) {
            try TaskGet.Params(strict: ["id": 1, "fields": ["id", "stat"]])
        }
        #expect(error?.path == "fields[1]")
        #expect(error?.expected.contains("\"state\"") == true)
    }

    @Test func aWrittenRecordParsesToItself() throws {
        var task = makeTask(state: .failed)
        task.error = TransferError(.httpStatus, "404 Not Found", httpStatus: 404, host: "example.org")
        task.attempts = 2
        task.finishedAt = Timestamp(seconds: 5)
        let record = TaskRecord(task, resumable: true)
        #expect(try TaskRecord(strict: record.wire) == record)
        #expect(record.error?.attempts == 2)
    }

    @Test func unknownWordsOfANewerDaemonAreShown() throws {
        let record = try TaskRecord(lenient: ["id": 1, "state": "hibernating", "shiny": true])
        #expect(record.state?.description == "hibernating")
        #expect(record.state?.value == nil)
    }
}

struct TaskFilterTests {
    @Test func fieldsAreScalarsOrArrays() throws {
        let filter = try TaskFilter(strict: ["state": "queued", "group": ["a", "b"], "owner": 1000])
        #expect(filter.state?.values == [.queued])
        #expect(filter.group?.values == ["a", "b"])
        #expect(filter.owner?.values == [Owner(uid: 1000)])
    }

    @Test func aTaskFilterNeedsConditionsOrAll() throws {
        #expect(try TaskFilter(strict: ["all": true]).all == true)
        #expect(throws: WireError.self) { try TaskFilter(strict: [:]) }
        #expect(throws: WireError.self) { try TaskFilter(strict: ["all": false]) }
        #expect(throws: WireError.self) { try TaskFilter(strict: ["all": true, "state": "queued"]) }
        #expect(throws: WireError.self) { try TaskFilter(strict: ["state": []]) }
    }

    @Test func aSelectionIsIDsOrAFilter() throws {
        #expect(try TaskSelection(strict: ["ids": [1, 2]]).ids == [TaskID(1), TaskID(2)])
        #expect(try TaskSelection(strict: ["filter": ["all": true]]).filter == .everything)
        for json in [[:], ["ids": []], ["ids": [1], "filter": ["all": true]], ["ids": 1]] as [JSONValue] {
            #expect(throws: WireError.self) { try TaskSelection(strict: json) }
        }
        let error = #expect(throws: WireError.self) { try TaskSelection(strict: ["filter": [:]]) }
        #expect(error?.path == "filter")
    }
}
