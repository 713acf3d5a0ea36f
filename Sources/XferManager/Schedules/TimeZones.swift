import Logging
import NIOConcurrencyHelpers
import XferCore
import XferFiles
import XferModel
import XferSystem

/// The time zones of tasks' windows. Each is read once, and again when its file has changed.
///
/// If a zone's file is removed or damaged later, the rules that were read before stay in force as long as this process
/// lives.
final class TimeZones: Sendable {
    private struct Entry {
        var rules: TimeZoneRules?
        var stamp: ZoneFiles.Stamp?
        var lookedAt: MonotonicInstant
    }

    private let files: ZoneFiles
    private let logger: Logger
    private let entries = NIOLockedValueBox<[String?: Entry]>([:])

    /// The time for which a file is assumed to be unchanged since the last check.
    private static let patience = Duration.seconds(60)

    init(files: ZoneFiles, logger: Logger) {
        self.files = files
        self.logger = logger
    }

    /// The reason why a zone is not available.
    enum Fault: Error, CustomStringConvertible {
        case noName
        case missing
        case unreadable(String)

        var description: String {
            switch self {
            case .noName: "that is not the name of a time zone"
            case .missing:
                "there is no such time zone on this machine, expected a name of the package tzdata such as Europe/Berlin"
            case .unreadable(let reason): "the time zone cannot be read: \(reason)"
            }
        }
    }

    /// The rules of the window's zone; nil if the zone cannot be read. Without a window the result is UTC and has no
    /// effect.
    ///
    /// May read a small local file, at most once a minute for each zone. It is called within the transaction that
    /// decides a task's conditions.
    func rules(for schedule: TaskSchedule) -> TimeZoneRules? {
        guard let window = schedule.window else { return .utc }
        return rules(named: window.zone)
    }

    /// Reads the rules of a time zone.
    ///
    /// - Parameter name: nil is the machine's own zone.
    func rules(named name: String?) -> TimeZoneRules? {
        let now = Clocks.monotonic()
        if let entry = entries.withLockedValue({ $0[name] }), entry.lookedAt.duration(to: now) < Self.patience {
            return entry.rules
        }
        return renew(name, now)
    }

    /// Marks every cached zone as stale, so that its file is checked at the next use.
    func recheck() {
        entries.withLockedValue { entries in
            for name in entries.keys { entries[name]?.lookedAt = MonotonicInstant(nanoseconds: .min / 2) }
        }
    }

    /// Checks a zone that a client names. A name that is no zone is not cached.
    ///
    /// - Throws: `Fault`.
    func check(_ name: String?) throws(Fault) {
        if let name, !ZoneFiles.isName(name) { throw .noName }
        let now = Clocks.monotonic()
        let known = entries.withLockedValue { $0[name] }
        if let known, known.rules != nil, known.lookedAt.duration(to: now) < Self.patience { return }
        let stamp = files.stamp(of: name)
        let rules = try load(name)
        entries.withLockedValue { $0[name] = Entry(rules: rules, stamp: stamp, lookedAt: now) }
    }

    private func renew(_ name: String?, _ now: MonotonicInstant) -> TimeZoneRules? {
        let stamp = files.stamp(of: name)
        let known = entries.withLockedValue { entries -> Entry? in
            entries[name]?.lookedAt = now
            return entries[name]
        }
        if let known, known.rules != nil, known.stamp == stamp { return known.rules }
        var rules = known?.rules
        do throws(Fault) {
            rules = try load(name)
        } catch {
            logger.warning(
                "a time zone cannot be read; windows in it \(rules == nil ? "stay closed" : "use its previous rules")",
                metadata: ["zone": "\(name ?? "local")", "error": "\(error)"])
        }
        entries.withLockedValue { $0[name] = Entry(rules: rules, stamp: stamp, lookedAt: now) }
        return rules
    }

    private func load(_ name: String?) throws(Fault) -> TimeZoneRules {
        let found: (bytes: [UInt8], stamp: ZoneFiles.Stamp)?
        do throws(FileError) { found = try files.read(name) } catch { throw .unreadable(error.description) }
        // localtime(5): without the file the zone is UTC.
        guard let found else { if name == nil { return .utc } else { throw .missing } }
        do throws(TimeZoneFile.Fault) {
            return try TimeZoneFile.read(found.bytes)
        } catch {
            throw .unreadable(error.description)
        }
    }
}
