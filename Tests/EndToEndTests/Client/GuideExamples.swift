import XferClient
import XferModel
import XferProtocol

// The blocks of docs/guide/swift.md. A house rule compares them with this file.

func fetch(_ url: String, with client: TransferClient) async throws -> String? {
    let task = try await client.add(url) {
        $0.output = "big.iso"
        $0.priority = .high
    }
    return try await task.wait().finalPath
}

func fetchLater(
    _ url: String, digest: String, at start: Timestamp, with client: TransferClient
) async throws -> TaskHandle {
    var task = NewTask(url: url)
    task.checksum = try Checksum(parsing: "sha-256=\(digest)")
    task.schedule.notBefore = .set(start)
    task.limits.maxRetries = .set(5)
    task.destination.onConflict = .set(.overwrite)
    task.choices.connectTimeout = .set(10)
    return try await client.add(task)
}

func fetchAll(_ urls: [String], with client: TransferClient) async throws -> [String] {
    let tasks = try await client.addAll(urls)
    return try await client.waitAll(tasks).compactMap(\.finalPath)
}

func resumeImages(with client: TransferClient) async throws {
    var images = TaskFilter()
    images.group = ["images"]
    images.state = [.paused]
    for try await record in client.tasks(matching: images, fields: TaskColumns(["url", "state"])) {
        print(record.id, record.url ?? "")
    }
    try await client.resume(TaskSelection(filter: images))
    let counts = try await client.call(QueueStats.self).counts
    print("\(counts.running) tasks run")
}

/// Goes on where the last run of the program has ended.
func report(
    since position: EventPosition?, with client: TransferClient,
    keep: (EventPosition) throws -> Void
) async throws {
    let events = try await client.events(
        since: position, types: [.durable(.taskCompleted), .durable(.taskFailed)])
    for try await event in events {
        if let id = event.taskID { print(id, event.type, event.value("path", String.self) ?? "") }
        try keep(await events.position)
    }
}

func ask(_ url: String, with client: TransferClient) async throws -> [UInt8] {
    do {
        let task = try await client.add(url) { $0.kind = .data }
        _ = try await task.wait(timeout: .seconds(60))
        return try await task.result(limit: 1 << 20).bytes
    } catch TaskError.failed(let record) {
        print(record.error?.message ?? "no reason is known")
    } catch TaskError.timedOut(let id) {
        try await client.task(id).cancel()
    } catch CallError.refused(let failure) {
        print(failure.code, failure.data?.reason ?? "", failure.data?.path ?? "")
    }
    return []
}

func remoteClient(token: String) throws -> TransferClient {
    var server = try ServerAddress("https://xfer.example.org:6801", token: token)
    server.authoritiesFile = "/etc/xfer/ca.pem"
    var options = TransferClient.Options()
    options.timeout = .seconds(10)
    options.reconnectLimit = nil
    return TransferClient(.server(server), options: options)
}
