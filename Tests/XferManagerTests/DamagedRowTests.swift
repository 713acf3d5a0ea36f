import Testing
import XferModel
import XferStore
import XferTestSupport

@testable import XferManager

/// Rows that a damaged disk left unreadable.
@Suite struct DamagedRowTests {
    @Test func aDamagedTransferKeepsNoTaskOutOfTheList() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.serve("/a", .tagged(1, length: 300_000)).always(.drop(after: 100_000))
        var manager = try await fixture.open()
        try await manager.start()
        let id = try await fixture.add("/a", as: "a", to: manager) { $0.retry.maxRetries = 0 }
        #expect(try await fixture.end(of: id, in: manager).state == .failed)
        await manager.shutdown(.suspend)
        let database = fixture.directory.file("state1/xferd.sqlite")
        let damage = """
            import sqlite3
            with sqlite3.connect('\(database)') as db: db.execute("UPDATE transfer SET selecting_headers = 'x'")
            """
        let damaged = try await Command.run(try #require(Command.find("python3")), ["-c", damage])
        #expect(damaged.isSuccess, "\(damaged)")
        manager = try await fixture.open()
        let page = try await manager.list(
            TaskQuery(), ascending: true, limit: 10, cursor: nil, for: ManagerFixture.caller)
        #expect(page.tasks.map(\.id) == [id])
        #expect(try await manager.resumability(of: page.tasks) == [:])
        #expect(try await manager.segments(of: page.tasks) == [:])
        await manager.shutdown(.suspend)
    }
}
