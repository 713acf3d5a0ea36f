/// The rows of an answer, as texts.
public struct PostgresResult: Hashable, Sendable {
    let columns: Int
    let values: [String?]
    /// The number of rows that an INSERT, UPDATE, DELETE or SELECT concerned.
    let affected: Int
    /// PostgreSQL's tag of the executed command.
    let tag: String

    /// The number of rows.
    var count: Int { columns == 0 ? 0 : values.count / columns }

    /// The rows in their order.
    var rows: some Sequence<PostgresRow> {
        (0..<count).lazy.map { PostgresRow(values: values[($0 * columns)..<(($0 + 1) * columns)]) }
    }

    /// The first row; nil if there is none.
    var first: PostgresRow? { rows.first { _ in true } }
}

/// A row of an answer. Columns are counted from 0.
struct PostgresRow: Sendable {
    let values: ArraySlice<String?>

    /// The column's text; nil for NULL.
    ///
    /// - Throws: `form` if there is no such column.
    func optional(_ column: Int) throws(PostgresError) -> String? {
        guard column >= 0, column < values.count else {
            throw PostgresError(.form, "the answer has \(values.count) columns, expected more than \(column)")
        }
        return values[values.startIndex + column]
    }

    /// The column's text.
    ///
    /// - Throws: `form` if the column is NULL.
    func text(_ column: Int) throws(PostgresError) -> String {
        guard let text = try optional(column) else { throw PostgresError(.form, "column \(column) is NULL") }
        return text
    }

    func optionalInteger(_ column: Int) throws(PostgresError) -> Int64? {
        guard let text = try optional(column) else { return nil }
        guard let value = Int64(text, radix: 10) else {
            throw PostgresError(.form, "column \(column) is \(text.prefix(40)), expected an integer")
        }
        return value
    }

    func integer(_ column: Int) throws(PostgresError) -> Int64 {
        guard let value = try optionalInteger(column) else { throw PostgresError(.form, "column \(column) is NULL") }
        return value
    }

    func optionalNumber(_ column: Int) throws(PostgresError) -> Double? {
        guard let text = try optional(column) else { return nil }
        guard let value = Double(text) else {
            throw PostgresError(.form, "column \(column) is \(text.prefix(40)), expected a number")
        }
        return value
    }

    /// `t` or `f`, as PostgreSQL writes them.
    func bool(_ column: Int) throws(PostgresError) -> Bool {
        switch try text(column) {
        case "t": return true
        case "f": return false
        case let other: throw PostgresError(.form, "column \(column) is \(other.prefix(40)), expected t or f")
        }
    }
}
