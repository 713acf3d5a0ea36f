import Logging
import NIOConcurrencyHelpers
import XferCore
import XferFiles
import XferModel

/// The time zones that windows name, read once and looked at again when their file has changed.
///
/// A zone whose file goes away or is damaged later keeps the rules that were read before, as long as this process lives.
final class TimeZones: Sendable {
    private struct Entry {
        var rules: TimeZoneRules?
        var stamp: ZoneFiles.Stamp?
        var lookedAt: MonotonicInstant
    }

    private let files: ZoneFiles
    private let logger: Logger
    private let entries = NIOLockedValueBox<[String?: Entry]>([:])

    /// How long a file is taken to be as it was when it was looked at last.
    private static let patience = Duration.seconds(60)

    init(files: ZoneFiles, logger: Logger) {
        self.files = files
        self.logger = logger
    }

    /// Why a zone cannot be had.
    enum Fault: Error, CustomStringConvertible {
        case noName
        case missing
        case unreadable(String)

        var description: String {
            switch self {
            case .noName: "that is no time zone's name"
            case .missing: "there is no such time zone on this machine (is the package tzdata installed?)"
            case .unreadable(let reason): "the time zone cannot be read: \(reason)"
            }
        }
    }

    /// A window's zone; nil when it cannot be read. Without a window UTC, which nobody looks at.
    ///
    /// May read a small local file, once a minute and zone at most: it is called where a task's conditions are decided,
    /// which is within a transaction.
    func rules(for schedule: TaskSchedule) -> TimeZoneRules? {
        guard let window = schedule.window else { return .utc }
        return rules(named: window.zone)
    }

    /// - Parameter name: nil is the machine's own zone.
    func rules(named name: String?) -> TimeZoneRules? {
        let now = Clocks.monotonic()
        if let entry = entries.withLockedValue({ $0[name] }), entry.lookedAt.duration(to: now) < Self.patience {
            return entry.rules
        }
        return renew(name, now)
    }

    /// Forgets when files were looked at: each is looked at again when it is needed next.
    func lookAgain() {
        entries.withLockedValue { entries in
            for name in entries.keys { entries[name]?.lookedAt = MonotonicInstant(nanoseconds: .min / 2) }
        }
    }

    /// Reads the zone for somebody who names it; what is none is not remembered.
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
                "a time zone cannot be read; windows in it \(rules == nil ? "stay closed" : "go by what it was")",
                metadata: ["zone": "\(name ?? "local")", "error": "\(error)"])
        }
        entries.withLockedValue { $0[name] = Entry(rules: rules, stamp: stamp, lookedAt: now) }
        return rules
    }

    private func load(_ name: String?) throws(Fault) -> TimeZoneRules {
        let found: (bytes: [UInt8], stamp: ZoneFiles.Stamp)?
        do throws(FileError) { found = try files.read(name) } catch { throw .unreadable(error.description) }
        // localtime(5): without the file it is UTC.
        guard let found else { if name == nil { return .utc } else { throw .missing } }
        do throws(TimeZoneFile.Fault) {
            return try TimeZoneFile.read(found.bytes)
        } catch {
            throw .unreadable(error.description)
        }
    }
}
