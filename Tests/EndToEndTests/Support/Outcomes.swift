import StrictJSON
import Testing
import XferTestSupport

/// Short names for what a task says of itself.
struct TaskView {
    let json: JSONValue

    var state: String? { json["state"]?.stringValue }
    var finalPath: String? { json["final_path"]?.stringValue }
    var received: Int64 { json["progress"]?["received"]?.integerValue ?? 0 }
    var total: Int64? { json["progress"]?["total"]?.integerValue }
    var waitReason: String? { json["wait"]?["reason"]?.stringValue }
    var errorReason: String? { json["error"]?["reason"]?.stringValue }
    var errorMessage: String { json["error"]?["message"]?.stringValue ?? "" }
    var isTerminal: Bool { ["completed", "failed", "cancelled"].contains(state) }
}

extension DaemonFixture {
    func view(_ id: Int64) async throws -> TaskView { TaskView(json: try await task(id)) }

    /// Brings a task to its end: whenever it backs off before another try, the wait is cut short.
    func finish(_ id: Int64, within timeout: Duration = Patience.long) async throws -> TaskView {
        let session = try session()
        return try await eventually("task \(id) ends", within: timeout) {
            let result = try await session.call("task.get", ["id": .integer(id)])
            let view = TaskView(json: result["task"] ?? result)
            if view.isTerminal { return view }
            if view.state == "waiting", ["retry", "host_cooldown", "network"].contains(view.waitReason) {
                _ = try await session.call("task.resume", ["ids": [.integer(id)]])
            }
            return nil
        }
    }

    /// As `finish`, and the task has to end completed.
    @discardableResult
    func complete(_ id: Int64, sourceLocation: SourceLocation = #_sourceLocation) async throws -> TaskView {
        let view = try await finish(id)
        #expect(view.state == "completed", "\(view.json.text)", sourceLocation: sourceLocation)
        return view
    }

    /// As `finish`, and the task has to fail for this reason, leaving nothing behind in the download directory.
    @discardableResult
    func fails(_ id: Int64, _ reason: String, sourceLocation: SourceLocation = #_sourceLocation) async throws
        -> TaskView
    {
        let view = try await finish(id)
        #expect(view.state == "failed", "\(view.json.text)", sourceLocation: sourceLocation)
        #expect(view.errorReason == reason, "\(view.json.text)", sourceLocation: sourceLocation)
        #expect(!view.errorMessage.isEmpty, sourceLocation: sourceLocation)
        #expect(view.finalPath == nil, sourceLocation: sourceLocation)
        return view
    }

    /// Types of a task's durable events in order, without the ones that only say that it was pushed on.
    func eventTypes(of id: Int64) async throws -> [String] {
        try await events(of: id).compactMap { $0["type"]?.stringValue }
    }

    /// Expects exactly these names in the download directory, once partial files that are no longer needed are gone:
    /// they go after the end has been recorded and told.
    func expectDownloads(_ names: [String], sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try? await eventually("the download directory is tidy") { try downloaded == names }
        #expect(try downloaded == names, sourceLocation: sourceLocation)
    }

    /// Names in the download directory.
    var downloaded: [String] { get throws { try FileTree.entries(below: downloads) } }
}

/// Expects that the published file is this version, and says where it is not.
func expectFile(
    _ view: TaskView, is version: SourceVersion, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let path = try #require(view.finalPath, "\(view.json.text)", sourceLocation: sourceLocation)
    let isEqual = try version.equals(file: path)
    let difference = isEqual ? nil : version.firstDifference(from: try FileTree.read(path))
    #expect(isEqual, "differs from byte \(difference ?? -1)", sourceLocation: sourceLocation)
}

/// The one daemon a test needs, ended properly.
func withTask(
    _ url: String, _ fields: JSONObject = [:], _ options: DaemonFixture.Options = DaemonFixture.Options(),
    body: (DaemonFixture, Int64) async throws -> Void
) async throws {
    try await withDaemon(options) { daemon in try await body(daemon, try await daemon.add(url, fields)) }
}
