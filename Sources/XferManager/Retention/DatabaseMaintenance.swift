import Glibc
import Logging
import XferFiles
import XferStore
import XferSystem

/// Checks and repairs the database: on request while no daemon runs, and at the start after an unclean stop.
public enum DatabaseMaintenance {
    /// Checks the whole database of a state directory that no daemon uses.
    ///
    /// - Throws: `FileError` if there is none or a daemon uses it, `StoreError.damaged` with the findings.
    public static func check(stateDirectory path: String) throws {
        try requireDatabase(in: path)
        let directory = try StateDirectory(path: path)
        try TaskStore.check(at: directory.databasePath, thoroughly: true)
    }

    /// Moves a damaged database aside and copies what can be read into a new one. Returns a report as text.
    public static func recover(stateDirectory path: String) throws -> String {
        try requireDatabase(in: path)
        let directory = try StateDirectory(path: path)
        directory.writeHolder()
        let report = try TaskStore.recover(at: directory.databasePath, now: Clocks.wall())
        let salvaged = report.salvaged.sorted { $0.key < $1.key }.map { "  \($0.key): \($0.value) rows" }
        let losses = report.losses.map { "  lost: \($0)" }
        let left = losses.isEmpty ? [] : ["The lost data is still in the damaged database."]
        return (["The damaged database is in \(report.setAside); the new one contains:"] + salvaged + losses + left)
            .joined(separator: "\n")
    }

    /// Replaces the database of a state directory that no daemon uses by a backup. Returns a report as text.
    ///
    /// - Throws: `FileError`, `StoreError`; then the present database is as it was.
    public static func restore(_ backup: String, stateDirectory path: String) throws -> String {
        let directory = try StateDirectory(path: path)
        directory.writeHolder()
        let copy = directory.path(of: "restore.partial")
        unlink(copy)
        _ = try PrivateCopy.write(backup, to: copy)
        let report = try TaskStore.restore(copy, at: directory.databasePath, now: Clocks.wall())
        var lines = [
            "\(report.taskCount) tasks are restored; the database has the new id \(report.storeID), and events follow "
                + "after \(report.seq)"
        ]
        if let setAside = report.setAside { lines.append("the previous database is in \(setAside)") }
        if report.revokedTokens > 0 {
            lines.append("\(report.revokedTokens) tokens are revoked: create new ones with xferctl token add")
        }
        lines.append(
            "at the next start, requests that must not be repeated and may have been sent since the backup fail")
        return lines.joined(separator: "\n")
    }

    /// Throws if the directory has no database: opening it would create one, and report it as undamaged.
    private static func requireDatabase(in directory: String) throws(FileError) {
        let path = StateDirectory.databasePath(in: directory)
        // A log without its database holds what was committed last.
        guard access(path, F_OK) == 0 || access(path + "-wal", F_OK) == 0 else { throw .missing(path: path) }
    }
}

extension TransferManager {
    /// True if an error at start means that a person has to repair the database.
    public static func isDamage(_ error: any Error) -> Bool {
        (error as? StoreError)?.isDamage ?? false
    }

    /// Returns advice for an error at start that comes from damage; nil for other errors.
    public static func advice(for error: any Error, stateDirectory: String) -> String? {
        switch error as? StoreError {
        case .damaged, .unreadable, .sqlite:
            "to see the damage: \(MaintenanceCommand.text("--check-database", stateDirectory: stateDirectory)); to keep the "
                + "readable data: \(MaintenanceCommand.text("--recover", stateDirectory: stateDirectory))"
        default: nil
        }
    }

    /// Checks the database on a connection of its own after a crash or power cut; true when it is damaged.
    public func findsDamageAfterUncleanStop() async -> Bool {
        guard store.wasStoppedUncleanly else { return false }
        do {
            try await services.pool.run { [store] in try store.check(thoroughly: false) }
            return false
        } catch {
            guard Self.isDamage(error) else { return false }
            logger.critical(
                "the database is damaged: xferd stops",
                metadata: ["error": "\(error)"])
            if let advice = Self.advice(for: error, stateDirectory: context.stateDirectory.path) {
                logger.critical("\(advice)")
            }
            return true
        }
    }

    /// True if manager and database respond. The watchdog calls it.
    public func isAlive() async -> Bool {
        (try? await store.read { try $0.events.lastSeq() }) != nil
    }
}

extension StateDirectory {
    var databasePath: String { Self.databasePath(in: path) }

    static func databasePath(in directory: String) -> String { "\(directory)/xferd.sqlite" }
}
