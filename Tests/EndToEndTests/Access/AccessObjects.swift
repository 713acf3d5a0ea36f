import StrictJSON
import Testing
import XferTestSupport

/// Objects of an operator that a guest's calls name, and a task of the guest's own.
struct AccessObjects {
    /// In each of the operator's objects, so that an answer that shows one is recognised.
    static let mark = "0perat0r"

    let daemon: DaemonFixture
    let server: FaultServer
    /// Paused.
    let task: Int64
    /// Completed, its response kept.
    let data: Int64
    let batch: Int64
    let cacheEntry: Int64
    let failedURL: Int64
    /// Ended.
    let operation: Int64
    /// Paused, with a profile that has a secret, as the operator's.
    let guestTask: Int64
    /// Beneath the operator's root.
    let file: String

    init(_ daemon: DaemonFixture, _ guest: Guest, _ server: FaultServer) async throws {
        self.daemon = daemon
        self.server = server
        file = "\(daemon.downloads)/file"
        try FileTree.write("text", to: file)
        try await daemon.setProfile([
            "name": "secret", "base_url": .string(server.url("/")),
            "credential": ["scheme": "bearer", "secret": "t0ken"],
        ])
        try await daemon.setProfile(["name": "spare"])
        for name in ["spare", "kept"] {
            _ = try await daemon.call(
                "policy.set", ["policy": ["name": .string(name), "hosts": [.string("\(name).test")], "mode": "none"]])
        }
        let url = server.url("/\(Self.mark)")
        task = try await daemon.add(
            url, ["paused": true, "profile": "secret", "group": "shared", "slot": "place", "label": .string(Self.mark)])
        data = try await daemon.add(url + "/data", ["kind": "data", "cache_policy": "protocol"])
        try await daemon.complete(data)
        let gone = try await daemon.add(url + "/gone", ["kind": "data", "max_retries": 0])
        try await daemon.wait(gone, for: "failed")
        let added = try await daemon.call(
            "batch.add", ["tasks": [.string(url + "/b")], "options": ["paused": true, "label": .string(Self.mark)]])
        batch = try #require(added["batch"]?["id"]?.integerValue)
        let entries = try await daemon.call("cache.list")["entries"]?.arrayValue
        cacheEntry = try #require(entries?.first?["id"]?.integerValue)
        let failed = try await daemon.call("failed_url.list")["entries"]?.arrayValue
        failedURL = try #require(failed?.first?["id"]?.integerValue)
        // It finds paused tasks, which cannot be retried.
        let begun = try await daemon.call(
            "task.retry", ["filter": ["label": .string(Self.mark)], "background": true])
        let operation = try #require(begun["operation"]?.integerValue)
        try await eventually("the operation has ended") {
            try await daemon.call("operation.get", ["id": .integer(operation)])["operation"]?["ended_at"] != nil
        }
        self.operation = operation
        guestTask = try await guest.add([
            "url": .string(server.url("/guest")), "profile": "secret", "paused": true, "dir": .string(guest.root),
        ])
    }

    /// All that the operator has, as it is now.
    func operators() async throws -> JSONValue {
        var all: [JSONValue] = []
        for id in [task, data] { all.append(try await daemon.call("task.get", ["id": .integer(id)])) }
        for (method, params) in [
            ("batch.get", ["id": .integer(batch)]), ("group.get", ["name": "shared"]), ("slot.get", ["slot": "place"]),
            ("operation.get", ["id": .integer(operation)]),
            ("cache.get", ["id": .integer(cacheEntry)]), ("failed_url.list", [:]), ("policy.list", [:]),
            ("profile.list", [:]),
        ] as [(String, JSONValue)] {
            all.append(try await daemon.call(method, params))
        }
        return .array(all)
    }
}
