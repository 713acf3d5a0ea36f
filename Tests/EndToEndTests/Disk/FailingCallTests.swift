import Glibc
import StrictJSON
import Testing
import XferTestSupport

/// Calls of the system that fail on a file's way to its name.
@Suite(.serialized, .enabled(if: KillPoint.isPossible, "needs root and strace"))
struct FailingCallTests {
    /// A small download has no file before its last byte, a larger one has a partial file.
    private static let lengths: [Int64] = [5000, 300_000]

    /// Downloads a file while calls fail.
    ///
    /// - Parameter body: called with the task, and with strace, which makes the calls fail until it is ended.
    private func download(
        _ length: Int64, failing call: KillPoint,
        _ body: (DaemonFixture, Int64, SourceVersion, ChildProcess) async throws -> Void
    ) async throws {
        let server = try await FaultServer()
        let gate = Gate()
        let (first, source) = (SourceVersion.tagged(1, length: 100), SourceVersion.tagged(2, length: length))
        let isLarge = length > 256 << 10
        server.serve("/first", first)
        server.serve("/f", source, faults: isLarge ? [[.stall(at: length - 1, until: gate)]] : [])
        try await withDaemon(DaemonFixture.Options()) { daemon in
            // The directory is known from then on, so that a small one has a brief run.
            try await daemon.complete(try await daemon.add(server.url("/first")))
            if isLarge {
                let id = try await daemon.add(server.url("/f"))
                try await daemon.waitForBytes(length - 1, of: id)
                let strace = try await daemon.attach(call, downloads: daemon.downloads)
                gate.open()
                try await body(daemon, id, source, strace)
            } else {
                let strace = try await daemon.attach(call, downloads: daemon.downloads)
                try await body(daemon, try await daemon.add(server.url("/f")), source, strace)
            }
        }
    }

    /// It is not known whether the name is durable. The file that has it belongs to the task, whatever follows.
    @Test(arguments: lengths) func aFailedSyncOfTheDirectoryLeavesNoSecondCopy(length: Int64) async throws {
        let sync = KillPoint(call: "fsync", place: .downloads, error: "EIO")
        try await download(length, failing: sync) { daemon, id, source, strace in
            _ = try await daemon.fails(id, "disk_error")
            strace.signal(SIGTERM)
            _ = await strace.exit()
            _ = try await daemon.call("task.retry", ["ids": [.integer(id)]])
            let view = try await daemon.complete(id)
            try expectFile(view, is: source)
            #expect(view.finalPath == "\(daemon.downloads)/f")
            try await daemon.expectDownloads(["f", "first"])
        }
    }

    @Test(arguments: lengths) func aRefusedModeIsAWarning(length: Int64) async throws {
        let refusal = KillPoint(call: "fchmod", error: "EPERM")
        try await download(length, failing: refusal) { daemon, id, source, _ in
            let view = try await daemon.complete(id)
            try expectFile(view, is: source)
            let warnings = try await daemon.events(of: id, types: "task.warning")
            #expect(warnings.count == 1, "\(warnings.map(\.text))")
            #expect(warnings.first?["warning"]?.stringValue?.contains("refuses the mode") == true)
            try await daemon.expectDownloads(["f", "first"])
        }
    }
}
