import GRDB

/// Copies the readable rows of a table, one by one, into the table of that name in a new database.
struct RowSalvage {
    /// The highest number of lines about one table.
    private static let maxLines = 1000

    private let table: String
    private let columns: [String]
    /// The columns that identify a row, in the order of the table's key.
    private let key: [String]
    private let source: Database
    private let target: Database
    private let insert: Statement
    private(set) var count = 0
    private(set) var losses: [String] = []
    private var unlisted = 0

    /// Prepares the copying of a table. Returns nil when the damaged database has no such table.
    init?(_ table: String, key: String?, from source: Database, into target: Database) throws {
        let known = try Self.storedColumns(of: table, in: target)
        columns = ((try? Self.storedColumns(of: table, in: source)) ?? []).filter(known.contains)
        guard !columns.isEmpty else { return nil }
        self.table = table
        self.source = source
        self.target = target
        self.key = try key.map { [$0] } ?? Self.primaryKey(of: table, in: target)
        let names = columns.map { "\"\($0)\"" }.joined(separator: ", ")
        let places = columns.map { _ in "?" }.joined(separator: ", ")
        insert = try target.makeStatement(sql: "INSERT OR IGNORE INTO \(table) (\(names)) VALUES (\(places))")
    }

    /// Copies the readable rows of the table.
    ///
    /// - Parameter rowID: the column with the table's row id, nil for a table without row ids.
    mutating func copy(rowID: String?) {
        if let rowID { copyAroundDamage(rowID) } else { copyFromBothEnds() }
        if unlisted > 0 { losses.append("\(table): \(unlisted) more rows are left out") }
    }

    private var select: String { "SELECT \(columns.map { "\"\($0)\"" }.joined(separator: ", ")) FROM \(table)" }

    // MARK: Reading

    /// Reads upwards to the damage, skips it, and continues with the next id that `firstReadable` finds.
    private mutating func copyAroundDamage(_ key: String) {
        let top = highestID(key)
        var next: Int64 = 1
        while next <= top {
            guard let fault = read(from: &next, key) else { return }
            let (lost, found) = (next, firstReadable(behind: next, key, top: top))
            list("\(table): rows \(lost) to \(found.map { "\($0 - 1)" } ?? "the last") cannot be read: \(fault)")
            guard let found else { return }
            next = found
        }
    }

    /// Reads rows from `next` on. Returns the error that stopped reading; nil at the end.
    private mutating func read(from next: inout Int64, _ key: String) -> StoreError? {
        do {
            let position = columns.firstIndex(of: key) ?? 0
            let rows = try Row.fetchCursor(
                source, sql: "\(select) WHERE \(key) >= ? ORDER BY \(key)", arguments: [next])
            while let row = try rows.next() {
                keep(row, isAgain: false)
                guard let id = Int64.fromDatabaseValue(row[position]), id < .max else { return nil }
                next = id + 1
            }
            return nil
        } catch {
            return StoreError(from: error)
        }
    }

    /// An id above `lost` from which rows can be read; nil if none is found.
    ///
    /// The search doubles its steps, then bisects the last one. It finds the lowest such id if one range of ids is
    /// damaged, and can miss readable rows between two damaged ranges.
    private func firstReadable(behind lost: Int64, _ key: String, top: Int64) -> Int64? {
        var (bad, leap) = (lost, Int64(1))
        while bad < top {
            let candidate = min(top, bad.addingReportingOverflow(leap).partialValue)
            guard canRead(from: candidate, key) else {
                bad = candidate
                leap = min(leap * 2, 1 << 20)
                continue
            }
            var good = candidate
            while good - bad > 1 {
                let middle = bad + (good - bad) / 2
                if canRead(from: middle, key) { good = middle } else { bad = middle }
            }
            return good
        }
        return nil
    }

    private func canRead(from id: Int64, _ key: String) -> Bool {
        (try? Row.fetchOne(source, sql: "\(select) WHERE \(key) >= ? ORDER BY \(key) LIMIT 1", arguments: [id])) != nil
    }

    private func highestID(_ key: String) -> Int64 {
        let counted = try? Int64.fetchOne(
            source, sql: "SELECT seq FROM sqlite_sequence WHERE name = ?", arguments: [table])
        let last = try? Int64.fetchOne(source, sql: "SELECT max(\(key)) FROM \(table)")
        // If neither is readable, this bound limits the search for rows behind the damage.
        return max(counted ?? 0, last ?? 0, counted == nil && last == nil ? 1 << 24 : 0)
    }

    /// Reads from the first row up to the damage, then from the last row down to it.
    private mutating func copyFromBothEnds() {
        let order = key.map { "\"\($0)\"" }
        guard let fault = readAll("ORDER BY " + order.joined(separator: ", "), isAgain: false) else { return }
        list("\(table): not all rows can be read: \(fault)")
        _ = readAll("ORDER BY " + order.map { $0 + " DESC" }.joined(separator: ", "), isAgain: true)
    }

    private mutating func readAll(_ order: String, isAgain: Bool) -> StoreError? {
        do {
            let rows = try Row.fetchCursor(source, sql: "\(select) \(order)")
            while let row = try rows.next() { keep(row, isAgain: isAgain) }
            return nil
        } catch {
            return StoreError(from: error)
        }
    }

    // MARK: Writing

    private mutating func keep(_ row: Row, isAgain: Bool) {
        do {
            try insert.execute(arguments: StatementArguments(row.map(\.1)))
            if target.changesCount > 0 {
                count += 1
            } else if !isAgain {
                list("\(name(of: row)) is in conflict with another row, or lacks a value; it is left out")
            }
        } catch {
            // A value of another type than the column's comes from damage.
            list("\(name(of: row)) does not fit its table and is left out: \(StoreError(from: error))")
        }
    }

    private func name(of row: Row) -> String {
        "\(table) " + key.map { (row[$0] as DatabaseValue).description }.joined(separator: ", ")
    }

    private mutating func list(_ line: String) {
        if losses.count < Self.maxLines { losses.append(line) } else { unlisted += 1 }
    }

    // MARK: Columns

    /// Returns the names of the columns that are not generated.
    private static func storedColumns(of table: String, in db: Database) throws -> [String] {
        try String.fetchAll(db, sql: "SELECT name FROM pragma_table_xinfo(?) WHERE hidden = 0", arguments: [table])
    }

    private static func primaryKey(of table: String, in db: Database) throws -> [String] {
        try String.fetchAll(
            db, sql: "SELECT name FROM pragma_table_xinfo(?) WHERE pk > 0 ORDER BY pk", arguments: [table])
    }
}
