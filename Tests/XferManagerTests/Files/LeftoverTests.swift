import Glibc
import Testing
import XferFiles
import XferModel
import XferStore
import XferTestSupport

@testable import XferManager

/// Nothing stays in the users' directories that no task will ever use.
@Suite struct LeftoverTests {
    private static let version = SourceVersion.tagged(33, length: 300_000)

    @Test func trimmingTheHistoryDeletesBytesKeptByFailedTasks() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open(change: { $0.retention.maxHistory = 1 })
        try await manager.start()
        for number in 0..<4 {
            fixture.server.serve("/a\(number)", Self.version).always(.drop(after: 100_000))
            let id = try await fixture.add("/a\(number)", as: "a\(number)", to: manager) { $0.retry.maxRetries = 0 }
            let end = try await fixture.end(of: id, in: manager)
            #expect(end.state == .failed, "\(end)")
        }
        try await eventually("the runs are over") { await manager.scheduler.transfers.isEmpty }
        try await manager.background.trimmer.trim()
        try await eventually("one part is left") { try fixture.files().count == 1 }
        try await eventually("no row is left") {
            try await manager.store.read { try $0.transfers.orphans(limit: 9) }.isEmpty
        }
        await manager.shutdown(.suspend)
    }

    @Test func aStartDeletesWorkingFilesOfItsOwnStoreThatNoRowNamesAndNoOthers() async throws {
        let fixture = try await ManagerFixture()
        for name in ["a", "b"] { fixture.server.serve("/\(name)", Self.version).always(.drop(after: 100_000)) }
        var manager = try await fixture.open()
        try await manager.start()
        let other = try fixture.directory.makeDirectory("other")
        var ids: [TaskID] = []
        for name in ["a", "b"] {
            ids.append(
                try await fixture.add("/\(name)", as: name, to: manager) {
                    $0.retry.maxRetries = 0
                    if name == "b" { $0.destination.directory = other }
                })
        }
        for id in ids { #expect(try await fixture.end(of: id, in: manager).state == .failed) }
        let kept = try #require(try fixture.files().first)
        let tag = try await manager.store.read { try $0.transfers.partTag() }
        let last = try await manager.store.read { try $0.transfers.lastID() }
        // The second one's row goes, and its part comes back as after a power cut.
        let part = try #require(try FileTree.entries(below: other).first)
        _ = try await manager.tasks.apply(.remove, to: [ids[1]], for: ManagerFixture.caller)
        try await eventually("its part is gone") { try FileTree.entries(below: other).isEmpty }
        // A task that is only remembered names the directory.
        let remembered = try await fixture.add("/a", as: "c", to: manager, startsPaused: true) {
            $0.destination.directory = other
        }
        _ = try await manager.tasks.apply(.cancel, to: [remembered], for: ManagerFixture.caller)
        await manager.shutdown(.suspend)
        let strays = [part, ".xfer-\(tag)-\(last)-c0ffee.hook", ".xfer-\(tag)-\(last)-c0ffee.hook.tmp"]
        let others = [
            ".xfer-\(tag)-999999.part", ".xfer-\(tag)x-1.part", ".xfer-ffffffff-1.part", "xfer-\(tag)-1.part",
            ".xfer-\(tag)-.part", "mine",
        ]
        for name in strays + others { try FileTree.write("x", to: "\(other)/\(name)") }
        manager = try await fixture.open()
        try await manager.start()
        try await eventually("they are swept") { try Set(FileTree.entries(below: other)) == Set(others) }
        #expect(try fixture.files() == [kept])
        await manager.shutdown(.suspend)
    }

    @Test func filesThatAHookMadeBesideItsCopyAreDeletedByACancel() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.serve("/a", Self.version)
        let script = fixture.directory.file("hook")
        try FileTree.write("#!/bin/sh\ncp \"$1\" \"$1.tmp\"\nexec sleep 1000\n", to: script, mode: 0o755)
        let manager = try await fixture.open(change: {
            $0.hooks = [HookDefinition(name: "slow", arguments: [script])]
        })
        try await manager.start()
        let id = try await fixture.add("/a", as: "a", to: manager) { $0.completion.postProcess = "slow" }
        try await eventually("the hook has begun") {
            try fixture.files().contains { $0.hasSuffix(".hook.tmp") }
        }
        _ = try await manager.tasks.apply(.cancel, to: [id], for: ManagerFixture.caller)
        try await eventually("nothing is left") { try fixture.files().isEmpty }
        await manager.shutdown(.suspend)
    }
}
