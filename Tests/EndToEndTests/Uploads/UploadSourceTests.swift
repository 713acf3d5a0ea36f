import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// A source that changes is never sent as a mixture.
@Suite struct UploadSourceTests {
    @Test(arguments: ["plain", "tus", "resumable"]) func aSourceChangedBeforeTheUploadSendsNothing(by name: String)
        async throws
    {
        let source = try UploadSource(seed: 90, length: 200_000)
        try await withUploads(name == "tus" ? .tus : .resumable) { daemon, server in
            let id = try await daemon.upload(source, to: server.url(), by: name, ["paused": true])
            try source.overwrite(seed: 91)
            _ = try await daemon.call("task.resume", ["ids": [.integer(id)]])
            try await daemon.fails(id, "source_file_changed")
            #expect(server.receivedBytes == 0)
        }
    }

    @Test(arguments: ["tus", "resumable"]) func aSourceChangedDuringTheUploadStopsTheSending(by name: String)
        async throws
    {
        let source = try UploadSource(seed: 92, length: 64 << 20)
        let gate = Gate()
        try await withUploads(name == "tus" ? .tus : .resumable) { daemon, server in
            server.inject(.hold(after: 1, gate), on: name == "tus" ? "PATCH" : "POST")
            let id = try await daemon.upload(source, to: server.url(), by: name)
            await gate.arrived()
            try source.overwrite(seed: 93)
            gate.open()
            try await daemon.fails(id, "source_file_changed")
            // What arrived is the beginning of the old version, and nothing else.
            let upload = try #require(server.uploads.first)
            let stored = try FileTree.read(upload.file)
            #expect(!upload.isComplete)
            #expect(Int64(stored.count) < source.version.length)
            #expect(source.version.firstDifference(from: stored) == nil)
        }
    }

    @Test func aSourceChangedBetweenTwoRunsFailsTheUpload() async throws {
        let source = try UploadSource(seed: 94, length: 3_000_000)
        try await withUploads(.tus) { daemon, server in
            server.inject(.drop(after: 1_000_000), on: "PATCH")
            // The next runs wait for a lock, so that there is time to change the file.
            let patience = [HeaderField(name: "Retry-After", value: "3600")]
            for _ in 0..<10 { server.inject(.answer(423, patience), on: "HEAD") }
            let id = try await daemon.upload(source, to: server.url(), by: "tus")
            try await eventually("the second run waits") {
                let task = try await daemon.task(id)
                if task["wait"]?["reason"] == "retry", server.methods.last == "PATCH" {
                    _ = try await daemon.call("task.resume", ["ids": [.integer(id)]])
                }
                return server.methods.last == "HEAD" && task["state"] == "waiting"
            }
            try source.overwrite(seed: 95)
            try await daemon.fails(id, "source_file_changed")
            #expect(server.receivedBytes == 1_000_000)
        }
    }

    @Test func aSpooledSourceMayChange() async throws {
        let source = try UploadSource(seed: 96, length: 3_000_000)
        try await withUploads(.resumable) { daemon, server in
            server.inject(.drop(after: 1_000_000), on: "POST")
            let id = try await daemon.upload(
                source, to: server.url(), by: "resumable", ["spool": true, "paused": true])
            try source.overwrite(seed: 97)
            _ = try await daemon.call("task.resume", ["ids": [.integer(id)]])
            try await daemon.complete(id)
            try expectUploaded(source, on: server)
        }
    }
}
