import Testing
import XferModel
import XferStore
import XferTestSupport

@testable import XferManager

/// A start that ends because of damage has written nothing.
@Suite struct RefusedDatabaseTests {
    private static let pageSize = 4096

    /// The first pages of all tables and indexes.
    private func rootPages(of database: String) async throws -> [Int] {
        let query = """
            import sqlite3
            with sqlite3.connect('file:\(database)?mode=ro', uri=True) as db:
                for row in db.execute("SELECT rootpage FROM sqlite_schema WHERE rootpage > 1"): print(row[0])
            """
        let answer = try await Command.run(try #require(Command.find("python3")), ["-c", query])
        #expect(answer.isSuccess, "\(answer)")
        return answer.output.split(separator: "\n").compactMap { Int($0) }
    }

    /// With a log the damaged start follows a kill, without one a clean stop.
    @Test(arguments: [false, true]) func aStartThatMeetsAZeroedPageWritesNothing(hasLog: Bool) async throws {
        let fixture = try await ManagerFixture()
        var manager = try await fixture.open()
        try await manager.start()
        for name in ["a", "b"] { _ = try await fixture.add("/a", as: name, to: manager, startsPaused: true) }
        await manager.shutdown(.suspend)
        let sound = try FileTree.read(fixture.directory.file("state1/xferd.sqlite"))
        var log: [UInt8]?
        if hasLog {
            manager = try await fixture.open()
            _ = try await fixture.add("/a", as: "c", to: manager, startsPaused: true)
            log = try FileTree.read(fixture.directory.file("state2/xferd.sqlite-wal"))
            await manager.shutdown(.suspend)
        }
        let pages = try await rootPages(of: fixture.directory.file("state1/xferd.sqlite"))
        #expect(pages.count > 30)
        var refused = 0
        for page in pages {
            var damaged = sound
            let start = (page - 1) * Self.pageSize
            damaged.replaceSubrange(start..<start + Self.pageSize, with: [UInt8](repeating: 0, count: Self.pageSize))
            let (database, logPath) = (fixture.lastDatabase, fixture.lastDatabase + "-wal")
            try FileTree.write(damaged, to: database, mode: 0o600)
            FileTree.remove(logPath)
            if let log { try FileTree.write(log, to: logPath, mode: 0o600) }
            do {
                let manager = try await fixture.open()
                do {
                    try await manager.start()
                    await manager.shutdown(.suspend)
                } catch {
                    Issue.record("page \(page): damage was found after the first write: \(error)")
                    await manager.shutdown(.suspend)
                }
            } catch {
                refused += 1
                #expect(try FileTree.read(fixture.lastDatabase) == damaged, "page \(page): \(error)")
                let kept =
                    FileTree.exists(fixture.lastDatabase + "-wal")
                    ? try FileTree.read(fixture.lastDatabase + "-wal") : []
                #expect(kept.count == (log ?? []).count, "page \(page): \(error)")
            }
        }
        #expect(refused > 5)
    }
}
