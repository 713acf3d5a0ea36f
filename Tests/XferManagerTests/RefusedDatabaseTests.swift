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

    /// The pages of the schema's table behind its first one (SQLite's file format, "B-tree Pages").
    private func schemaPages(of database: [UInt8]) -> [Int] {
        func number(_ start: Int, _ count: Int) -> Int {
            database[start..<start + count].reduce(0) { $0 << 8 | Int($1) }
        }
        guard database.count > Self.pageSize, database[100] == 5 else { return [] }
        let cells = (0..<number(103, 2)).map { number(112 + 2 * $0, 2) }
        return [number(108, 4)] + cells.map { number($0, 4) }
    }

    /// SQLite reads the schema before any statement of the start, in its settings of the connection.
    @Test func aStartThatMeetsADamagedSchemaLeavesTheLogAsItIs() async throws {
        let fixture = try await ManagerFixture()
        var manager = try await fixture.open()
        try await manager.start()
        await manager.shutdown(.suspend)
        let sound = try FileTree.read(fixture.lastDatabase)
        manager = try await fixture.open()
        _ = try await fixture.add("/a", as: "c", to: manager, startsPaused: true)
        let log = try FileTree.read(fixture.lastDatabase + "-wal")
        await manager.shutdown(.suspend)
        // A page that the log has, too, is read from there.
        let logged = Set(
            stride(from: 32, to: log.count - 24, by: 24 + Self.pageSize).map { start in
                log[start..<start + 4].reduce(0) { $0 << 8 | Int($1) }
            })
        let pages = schemaPages(of: sound).filter { !logged.contains($0) }
        #expect(!pages.isEmpty && !log.isEmpty)
        for start in pages.map({ ($0 - 1) * Self.pageSize }) {
            var damaged = sound
            // Neither a leaf nor an inner page of a table.
            damaged[start] = 2
            try FileTree.write(damaged, to: fixture.lastDatabase, mode: 0o600)
            try FileTree.write(log, to: fixture.lastDatabase + "-wal", mode: 0o600)
            await #expect(throws: (any Error).self) { _ = try await fixture.open() }
            #expect(try FileTree.read(fixture.lastDatabase) == damaged, "byte \(start)")
            #expect(try FileTree.read(fixture.lastDatabase + "-wal") == log, "byte \(start)")
        }
    }

    /// With a log the damaged start follows a kill, without one a clean stop.
    @Test(arguments: [false, true]) func aStartThatMeetsAZeroedPageWritesNothing(hasLog: Bool) async throws {
        let fixture = try await ManagerFixture()
        var manager = try await fixture.open()
        try await manager.start()
        for name in ["a", "b"] { _ = try await fixture.add("/a", as: name, to: manager, startsPaused: true) }
        await manager.shutdown(.suspend)
        let sound = try FileTree.read(fixture.database(1))
        var log: [UInt8]?
        if hasLog {
            manager = try await fixture.open()
            _ = try await fixture.add("/a", as: "c", to: manager, startsPaused: true)
            log = try FileTree.read(fixture.database(2) + "-wal")
            await manager.shutdown(.suspend)
        }
        let pages = try await rootPages(of: fixture.database(1))
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
