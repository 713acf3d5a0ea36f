import StrictJSON
import Testing
import XferProtocol
import XferTestSupport

@testable import XferCommands

/// `xferctl cache put` as a call of `cache.put`.
@Suite struct CachePutCommandTests {
    private static let digest = "sha-256=5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"

    /// The parameters that the command sends, strictly read as the daemon does.
    private func params(_ arguments: [String], input: String = "", directory: String? = nil) async throws -> JSONValue {
        let example = try #require(CachePut.examples.first)
        let daemon = try ScriptedDaemon { _, _ in .result(example.result) }
        let result = try await Program.run(
            ["cache", "put"] + arguments, daemon: daemon, input: input, directory: directory)
        #expect(result.exit == .code(0) && result.output.hasPrefix("stored as entry 4 (6 B), fresh until"), "\(result)")
        let params = try #require(daemon.calls(of: "cache.put").first)
        _ = try CachePut.Params(strict: params)
        return params
    }

    @Test(arguments: [(20_000_000, false), (24_000_000, true)] as [(Int64, Bool)])
    func contentForWhichOthersAreRemovedIsReported(kept: Int64, isReported: Bool) async throws {
        let example = try #require(CachePut.examples.first)
        var entry = try #require(example.result["entry"]?.objectValue)
        entry["size"] = 9_000_000
        let stored = entry
        let daemon = try ScriptedDaemon { method, _ in
            method == "cache.stats"
                ? .result(["entries": 3, "size": .integer(kept), "max_bytes": 30_000_000, "max_age": 604_800])
                : .result(["entry": .object(stored)])
        }
        let result = try await Program.run(["cache", "put", "http://h/f", "-"], daemon: daemon, input: "hello\n")
        #expect(result.exit == .code(0), "\(result)")
        #expect(result.errors.contains("cache.max_bytes") == isReported, "\(result)")
    }

    @Test func aFileIsSentAsItsAbsolutePath() async throws {
        let directory = try TemporaryDirectory()
        let params = try await params(
            ["--checksum", Self.digest, "--max-age", "1h", "--content-type", "text/plain", "http://h/f", "motd"],
            directory: directory.path)
        #expect(
            params == [
                "url": "http://h/f", "file": .string("\(directory.path)/motd"), "checksum": .string(Self.digest),
                "max_age": 3600, "content_type": "text/plain",
            ])
    }

    @Test func standardInputIsSentAsBase64() async throws {
        let params = try await params(
            ["--cache-key", #"{"ignore_query": true}"#, "http://h/f", "-"], input: "hello\n")
        #expect(
            params == [
                "url": "http://h/f", "base64": "aGVsbG8K", "max_age": 86_400, "cache_key": ["ignore_query": true],
            ])
    }

    @Test func aRelativePathIsRefusedForAnotherMachine() async throws {
        let result = try await Program.run([
            "cache", "put", "--server", "https://h", "--token-file", "t", "http://h/f", "motd",
        ])
        #expect(result.exit == .code(2) && result.errors.contains("absolute path on that machine"), "\(result)")
    }
}
