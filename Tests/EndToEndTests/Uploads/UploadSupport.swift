import Glibc
import StrictJSON
import Testing
import XferTestSupport

/// A file to upload, in a directory of its own.
final class UploadSource: Sendable {
    let version: SourceVersion
    let path: String
    private let directory: TemporaryDirectory

    init(seed: UInt64, length: Int64) throws {
        version = SourceVersion.tagged(seed, length: length)
        directory = try TemporaryDirectory("xfer-source")
        path = directory.file("source.bin")
        try version.write(to: path)
    }

    /// Writes other bytes into the same file.
    func overwrite(seed: UInt64) throws { try SourceVersion.tagged(seed, length: version.length).write(to: path) }
}

extension DaemonFixture {
    /// Adds an upload of a file.
    func upload(
        _ source: UploadSource, to url: String, by protocolName: String, _ fields: JSONObject = [:]
    ) async throws -> Int64 {
        var all = fields
        all["kind"] = "upload"
        all["source"] = .string(source.path)
        all["upload"] = .string(protocolName)
        return try await add(url, all)
    }

    /// What `task.result` gives, as text.
    func result(_ id: Int64) async throws -> String {
        let result = try await call("task.result", ["id": .integer(id)])
        return result["text"]?.stringValue ?? result.text
    }
}

/// A daemon and a server for uploads.
///
/// - Parameter isKilled: the daemon dies on the way, and a server may notice later than the next request comes.
func withUploads(
    _ dialect: UploadServer.Dialect, isKilled: Bool = false,
    _ change: (inout UploadServer.Behaviour) -> Void = { _ in },
    body: (DaemonFixture, UploadServer) async throws -> Void
) async throws {
    var behaviour = UploadServer.Behaviour()
    change(&behaviour)
    let server = try await UploadServer(dialect, behaviour)
    try await withDaemon { daemon in try await body(daemon, server) }
    let requests = isKilled ? [] : server.requests.filter { $0.wasConcurrent }
    #expect(requests.isEmpty, "asked while a part was in flight: \(requests)")
}

/// Expects one whole upload, equal to the source.
func expectUploaded(
    _ source: UploadSource, on server: UploadServer, sourceLocation: SourceLocation = #_sourceLocation
) throws {
    let complete = server.uploads.filter { $0.isComplete && !$0.isPart }
    #expect(complete.count == 1, "\(server.uploads)", sourceLocation: sourceLocation)
    let upload = try #require(complete.first, sourceLocation: sourceLocation)
    let isEqual = try source.version.equals(file: upload.file)
    #expect(isEqual, sourceLocation: sourceLocation)
}
