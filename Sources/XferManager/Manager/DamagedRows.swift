import NIOConcurrencyHelpers
import XferModel
import XferStore

/// The rows of profiles, tokens, policies and tasks that cannot be read, until they are written again or removed.
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

    /// The highest number of tasks that are remembered. The log and the lists name further ones each time.
    static let mostTasks = 1000

    /// Adds tasks whose rows could not be read. Returns those that were not among them.
    func add(tasks: [TaskID]) -> [DamagedRow] {
        guard !tasks.isEmpty else { return [] }
        return rows.withLockedValue { rows in
            let known = Set(rows)
            let new = tasks.map(DamagedRow.task).filter { !known.contains($0) }
            rows += new.prefix(max(0, Self.mostTasks - known.count { $0.table == .task }))
            return new
        }
    }

    /// Removes tasks that were removed, or whose rows could be read.
    func remove(tasks: [TaskID]) {
        rows.withLockedValue { rows in
            guard rows.contains(where: { $0.table == .task }) else { return }
            let gone = Set(tasks.map(DamagedRow.task))
            rows.removeAll(where: gone.contains)
        }
    }

    /// Does nothing if the row is not among them.
    func remove(_ table: DamagedRow.Table, _ name: String) {
        rows.withLockedValue { $0.removeAll { $0.table == table && $0.name == name } }
    }
}
