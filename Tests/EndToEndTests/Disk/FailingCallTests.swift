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

    /// One call after the other fails, of files, their directory or the database. When calls succeed again, each file is
    /// there once.
    @Test(.enabled(if: Machine.isSoak, "make soak"), arguments: ["EIO", "ENOSPC"])
    func anErrorAtEachCallLosesAndDoublesNothing(error: String) async throws {
        var count = 0
        for (call, place, last) in [
            ("openat", .downloads, 12), ("fchmod", nil, 6), ("utimensat", nil, 6), ("ftruncate", nil, 4),
            ("pwrite64", nil, 10), ("pwrite64", .databaseLog, 10), ("fdatasync", nil, 8), ("fsync", nil, 8),
            ("fsync", .downloads, 4), ("linkat", nil, 6), ("renameat2", nil, 6), ("unlinkat", nil, 6),
        ] as [(String, KillPoint.Place?, Int)] {
            for number in 1...last {
                let point = KillPoint(call: call, number: number, place: place, error: error, isSingle: true)
                try await expectEachFileOnce(point)
                count += 1
            }
        }
        print("errors at calls of downloads, \(error): \(count) runs")
    }

    private func expectEachFileOnce(_ point: KillPoint) async throws {
        let server = try await FaultServer()
        let sources = [100, 5000, 300_000, 1_500_000].map { SourceVersion.tagged(UInt64($0), length: $0) }
        for source in sources { server.serve("/\(source.seed)", source) }
        try await withDaemon(DaemonFixture.Options()) { daemon in
            // The directory is known from then on, so that small ones have brief runs.
            try await daemon.complete(
                try await daemon.add(server.url("/100"), ["output": "first", "coalesce": false]))
            _ = try await daemon.call("queue.pause")
            var ids: [Int64] = []
            for source in sources {
                ids.append(
                    try await daemon.add(
                        server.url("/\(source.seed)"), ["output": .string("\(source.seed)"), "coalesce": false]))
            }
            let strace = try await daemon.attach(point, downloads: daemon.downloads)
            // The database may refuse it.
            _ = try? await daemon.call("queue.resume")
            try await eventually("\(point.testDescription): each task has ended or waits", within: Patience.long) {
                for id in ids where ["queued", "running"].contains(try await daemon.view(id).state) {
                    _ = try? await daemon.call("queue.resume")
                    return false
                }
                return true
            }
            strace.signal(SIGTERM)
            _ = await strace.exit()
            let all: JSONValue = ["ids": .array(ids.map { .integer($0) })]
            for verb in ["retry", "resume"] { _ = try await daemon.call("task.\(verb)", all) }
            for (id, source) in zip(ids, sources) {
                let view = try await daemon.complete(id)
                try expectFile(view, is: source)
                #expect(view.finalPath == "\(daemon.downloads)/\(source.seed)", "\(point.testDescription)")
            }
            try await daemon.expectDownloads((sources.map { "\($0.seed)" } + ["first"]).sorted())
        }
    }
}
