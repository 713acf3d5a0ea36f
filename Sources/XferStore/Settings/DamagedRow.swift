public import XferModel

/// A row whose contents cannot be read. It does not fail work on the other rows of its table.
public struct DamagedRow: Hashable, Sendable, CustomStringConvertible {
    public enum Table: String, Hashable, Sendable {
        case profile, policy, token, task
    }

    public let table: Table
    /// The name; a task's number.
    public let name: String
    /// The row's key: a policy's version, a token's or a task's id; 0 for a profile.
    public let id: Int64
    /// True if the configuration file contains what the row had.
    public let isConfigured: Bool

    public var description: String {
        switch table {
        case .profile: "profile \"\(name)\""
        case .policy: "trust policy \"\(name)\""
        case .token: "token \"\(name)\""
        case .task: "task \(name)"
        }
    }

    /// The row of a task.
    public static func task(_ id: TaskID) -> DamagedRow {
        DamagedRow(table: .task, name: "\(id)", id: id.rawValue, isConfigured: false)
    }
}

extension Connection {
    /// The rows that can be read, and those that cannot.
    func readable<Row>(
        _ sql: StaticString, _ read: (ResultRow) throws(StoreError) -> Row, orElse damaged: (ResultRow) -> DamagedRow
    ) throws(StoreError) -> (rows: [Row], damaged: [DamagedRow]) {
        var rows: [Row] = []
        var faults: [DamagedRow] = []
        try forEach(sql, []) { row throws(StoreError) in
            do throws(StoreError) {
                rows.append(try read(row))
            } catch {
                guard case .unreadable = error else { throw error }
                faults.append(damaged(row))
            }
        }
        return (rows, faults)
    }
}
