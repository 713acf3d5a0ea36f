import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// A task that goes through the cache, as a download or for `task.result`.
enum CachedKind: String, CaseIterable, Sendable {
    case download, data
}

/// What became of a task that may have used the cache.
struct CachedFetch {
    let id: Int64
    let view: TaskView
    /// The bytes of the file, or of the result.
    let bytes: [UInt8]
    /// Durable events in order, by type.
    let events: [String]

    /// The events about the cache.
    var cacheEvents: [String] { events.filter { ["cache.hit", "task.refreshed", "task.not_modified"].contains($0) } }
    var terminalCount: Int {
        events.filter { ["task.completed", "task.failed", "task.cancelled"].contains($0) }.count
    }
}

extension SourceVersion {
    /// Offered with this `Cache-Control` and an entity tag.
    static func cached(_ seed: UInt64, length: Int64 = 70_000, _ control: String, _ more: HeaderField...) -> Self {
        .tagged(seed, length: length, headers: [HeaderField(name: "Cache-Control", value: control)] + more)
    }
}

extension DaemonFixture {
    /// Fetches, and gives what came of it.
    func fetch(
        _ url: String, _ kind: CachedKind = .download, _ policy: String? = nil, _ fields: JSONObject = [:],
        sourceLocation: SourceLocation = #_sourceLocation
    ) async throws -> CachedFetch {
        var fields = fields
        fields["kind"] = .string(kind.rawValue)
        if let policy { fields["cache_policy"] = .string(policy) }
        let id = try await add(url, fields)
        let view = try await finish(id)
        let events = try await events(of: id)
        #expect(events.filter { $0["terminal"] == true }.count == 1, sourceLocation: sourceLocation)
        var bytes: [UInt8] = []
        if kind == .data, view.state == "completed" { bytes = try await result(of: id) }
        if let path = view.finalPath { bytes = try FileTree.read(path) }
        return CachedFetch(
            id: id, view: view, bytes: bytes, events: events.compactMap { $0["type"]?.stringValue })
    }

    /// The whole of a task's result.
    func result(of id: Int64) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        while true {
            let page = try await call("task.result", ["id": .integer(id), "offset": .integer(Int64(bytes.count))])
            let data = page["data"]?.stringValue ?? ""
            bytes += page["encoding"] == "base64" ? Base64.decode(data) ?? [] : Array(data.utf8)
            if page["eof"] == true { return bytes }
        }
    }

    /// Files in the cache directory.
    var blobs: [String] { get throws { try FileTree.entries(below: "\(stateDirectory)/cache") } }

    func cacheStats() async throws -> (entries: Int64, size: Int64) {
        let stats = try await call("cache.stats")
        return (stats["entries"]?.integerValue ?? -1, stats["size"]?.integerValue ?? -1)
    }

    /// Expects as many files as entries, once those that went have been deleted.
    func expectTidyCache(_ count: Int? = nil, sourceLocation: SourceLocation = #_sourceLocation) async throws {
        try? await eventually("files and entries are as many") {
            try await Int64(try blobs.count) == cacheStats().entries
        }
        let entries = try await cacheStats().entries
        #expect(try Int64(blobs.count) == entries, sourceLocation: sourceLocation)
        if let count { #expect(entries == Int64(count), sourceLocation: sourceLocation) }
    }
}
