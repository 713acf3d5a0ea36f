import NIOConcurrencyHelpers
import XferStore

/// The rows of profiles, tokens and policies that cannot be read, until they are written again or removed.
final class DamagedRows: Sendable {
    private let rows = NIOLockedValueBox<[DamagedRow]>([])

    var all: [DamagedRow] { rows.withLockedValue(\.self) }

    /// Replaces the rows of a table. Returns those that were not among them.
    @discardableResult func replace(_ table: DamagedRow.Table, by found: [DamagedRow]) -> [DamagedRow] {
        rows.withLockedValue { rows in
            let new = found.filter { !rows.contains($0) }
            rows = rows.filter { $0.table != table } + found
            return new
        }
    }

    /// Does nothing if the row is not among them.
    func remove(_ table: DamagedRow.Table, _ name: String) {
        rows.withLockedValue { $0.removeAll { $0.table == table && $0.name == name } }
    }
}
