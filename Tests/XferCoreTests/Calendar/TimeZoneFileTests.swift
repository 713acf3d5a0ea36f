import Testing
import XferModel
import XferTestSupport

@testable import XferCore

/// What `TimeZoneFile` reads, beside what the C library reads from the same files.
@Suite struct TimeZoneFileTests {
    /// Every zone of the machine, from 1890 to 2200 in `make soak`: far beyond the last change that is written down.
    /// `zdump` needs half a minute for that, so `make test` compares seventy years of it, in zones that are no links.
    @Test func everyZoneOfTheSystemHasTheTransitionsOfZdump() async throws {
        let zdump = try #require(Command.find("zdump"))
        let regions = [
            "Africa", "America", "Antarctica", "Asia", "Atlantic", "Australia", "Europe", "Indian", "Pacific",
        ]
        let names = try regions.flatMap { region in
            try FileTree.entries(below: "\(Zones.directory)/\(region)").map { "\(region)/\($0)" }
        }
        var known: Set<[UInt8]> = []
        let distinct = names.filter { name in
            guard let rules = try? FileTree.read("\(Zones.directory)/\(name)") else { return false }
            return known.insert(Array(rules)).inserted || Campaign.isSoak
        }
        #expect(distinct.count > 300)
        let years = Campaign.isSoak ? "1890,2200" : "1970,2040"
        let dump = try await Command.run(zdump, ["-v", "-c", years] + distinct)
        var zones: [String: TimeZoneRules] = [:]
        var last: (zone: String, second: Int64, offset: Int64)?
        var compared = 0
        for line in dump.output.split(separator: "\n") {
            let words = line.split(separator: " ", omittingEmptySubsequences: true)
            guard words.count > 6, let second = Self.second(words[2...5]), words[6] == "UT",
                let offset = words.last?.split(separator: "=").last.flatMap({ Int64($0) })
            else { continue }
            let name = String(words[0])
            let zone = try zones[name] ?? Zones.zone(name)
            zones[name] = zone
            if zone.offset(at: second) != offset { Issue.record("\(line): found \(zone.offset(at: second))") }
            // Lines come in pairs around a change, of which some change the zone's abbreviation only.
            if let last, last.zone == name {
                let next = zone.nextChange(after: last.second)
                let expected = last.offset == offset ? nil : second
                if second == last.second + 1, expected != nil, next != expected {
                    Issue.record("\(line): \(next ?? 0)")
                }
                if expected == nil, let next, next <= second { Issue.record("\(line): a change at \(next)") }
            }
            last = (name, second, offset)
            compared += 1
            if compared.isMultiple(of: 500) { await Task.yield() }
        }
        #expect(compared > (Campaign.isSoak ? 50_000 : 20_000))
    }

    /// `Mar 29 01:00:00 2026`
    private static func second(_ words: ArraySlice<Substring>) -> Int64? {
        let words = Array(words)
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let time = words[2].split(separator: ":").compactMap { Int64($0) }
        guard let month = months.firstIndex(of: String(words[0])), let day = Int64(words[1]), time.count == 3,
            let year = Int64(words[3])
        else { return nil }
        let days = CivilDate(year: year, month: Int64(month + 1), day: day).daysSinceEpoch
        return days * 86_400 + time[0] * 3600 + time[1] * 60 + time[2]
    }

    @Test(arguments: [
        ("Europe/Berlin", "2026-07-01T00:00:00Z", 7200), ("Europe/Berlin", "2026-12-01T00:00:00Z", 3600),
        ("Australia/Lord_Howe", "2026-12-01T00:00:00Z", 39_600),
        ("Australia/Lord_Howe", "2026-07-01T00:00:00Z", 37_800),
        ("Asia/Kathmandu", "2026-01-01T00:00:00Z", 20_700), ("America/Sao_Paulo", "2026-01-01T00:00:00Z", -10_800),
        // Winter is what is out of the ordinary in Ireland.
        ("Europe/Dublin", "2026-07-01T00:00:00Z", 3600), ("Europe/Dublin", "2026-12-01T00:00:00Z", 0),
        ("Etc/GMT+12", "2026-12-01T00:00:00Z", -43_200), ("Pacific/Kiritimati", "2026-01-01T00:00:00Z", 50_400),
        // Beyond any table, by the footer alone.
        ("Europe/Berlin", "2999-07-01T00:00:00Z", 7200), ("America/New_York", "2999-01-15T00:00:00Z", -18_000),
        ("Australia/Sydney", "2999-01-15T00:00:00Z", 39_600),
    ]) func aZoneHasTheExpectedOffsetAtATime(name: String, time: String, offset: Int64) throws {
        #expect(try Zones.zone(name).offset(at: at(time).second) == offset)
    }

    @Test func aZoneWithoutSummerTimeNeverChanges() throws {
        #expect(try Zones.zone("Asia/Kolkata").nextChange(after: at("2026-01-01T00:00:00Z").second) == nil)
        #expect(TimeZoneRules.utc.nextChange(after: 0) == nil && TimeZoneRules.utc.offset(at: .max) == 0)
    }

    // MARK: The format

    /// Version 1: 32-bit times, no footer.
    @Test func aVersion1FileIsParsedWith32BitTimes() throws {
        let bytes = TZif(version: 0, times: [(100, 1)], offsets: [60, 120]).block(wide: false)
        let zone = try TimeZoneFile.read(bytes)
        #expect(zone.offset(at: 99) == 60 && zone.offset(at: 100) == 120 && zone.offset(at: .max) == 120)
        #expect(zone.nextChange(after: 0) == 100 && zone.nextChange(after: 100) == nil)
    }

    @Test(arguments: [UInt8(ascii: "2"), UInt8(ascii: "3"), UInt8(ascii: "4")])
    func aFileOfALaterVersionIsParsedWith64BitTimesAndItsFooter(version: UInt8)
        throws
    {
        let wide = TZif(version: version, times: [(-5_000_000_000, 1)], offsets: [60, 120])
        let bytes = TZif(version: version, times: [(7, 0)], offsets: [0]).block(wide: false) + wide.block(wide: true)
        let zone = try TimeZoneFile.read(bytes + Array("\nXXX-1YYY,M3.5.0,M10.5.0/3\n".utf8))
        #expect(zone.offset(at: -5_000_000_001) == 60)
        #expect(zone.offset(at: 0) == 3600 && zone.offset(at: at("2026-07-01T00:00:00Z").second) == 7200)
        // Without a footer the last offset holds on.
        #expect(try TimeZoneFile.read(bytes + Array("\n\n".utf8)).offset(at: 0) == 120)
    }

    @Test func theFooterOfAFileWithoutTransitionsAlwaysHolds() throws {
        let block = TZif(version: 50, times: [], offsets: [60])
        let zone = try TimeZoneFile.read(block.block(wide: false) + block.block(wide: true) + Array("\nXXX-2\n".utf8))
        #expect(zone.offset(at: -1 << 40) == 7200)
    }

    @Test(
        arguments: [
            ([], "it ends too early"), (Array("#!/bin/sh".utf8), "it does not begin with TZif"),
            (TZif(version: 0, times: [], offsets: []).block(wide: false), "it has no local time type"),
            (TZif(version: 0, times: [(5, 0), (5, 0)], offsets: [0]).block(wide: false), "its times are not in order"),
            (
                TZif(version: 0, times: [(5, 1)], offsets: [0]).block(wide: false),
                "a time refers to a type that does not exist"
            ),
            (TZif(version: 0, times: [], offsets: [100_000]).block(wide: false), "an offset from UTC is out of range"),
            (TZif(version: 0, times: [], offsets: [0], leaps: 1).block(wide: false), "it contains leap seconds"),
            (TZif(version: 0, times: [], offsets: [0], leaps: -1).block(wide: false), "a count in it is out of range"),
            (
                TZif(version: 50, times: [], offsets: [0]).block(wide: false)
                    + TZif(version: 50, times: [], offsets: [0]).block(wide: true), "it ends too early"
            ),
            (
                TZif(version: 50, times: [], offsets: [0]).block(wide: false)
                    + TZif(version: 50, times: [], offsets: [0]).block(wide: true) + Array("\nnonsense\n".utf8),
                "its last line is not a POSIX TZ string"
            ),
        ] as [([UInt8], String)]) func aFileThatIsNoZoneIsRefusedWithTheReason(bytes: [UInt8], reason: String)
    {
        let fault = #expect(throws: TimeZoneFile.Fault.self) { try TimeZoneFile.read(bytes) }
        #expect(fault?.description == reason)
    }

    static let times: [Int64] = [
        .min, .min + 1, -1 << 62, -62_167_219_201, -1 << 40, 1 << 40, 253_402_300_800, 1 << 62, .max - 1, .max,
    ]

    /// Nothing on Earth changed at such times; a damaged file says so all the same.
    @Test(arguments: times) func aTransitionAtAnyTimeIsRefusedOrReadWithoutOverflow(time: Int64) {
        for footer in ["", "XXX-1YYY,M3.5.0,M10.5.0/3", "XXX-24YYY,M1.1.0/-167,M12.5.0/167"] {
            let wide = TZif(version: 50, times: [(time, 1)], offsets: [-89_999, 93_599])
            let narrow = TZif(version: 50, times: [], offsets: [0])
            let bytes = narrow.block(wide: false) + wide.block(wide: true) + Array("\n\(footer)\n".utf8)
            guard let zone = try? TimeZoneFile.read(bytes) else { continue }
            for second in [Int64.min, time, 0, .max] {
                _ = zone.offset(at: second)
                _ = zone.nextChange(after: second)
            }
            let window = WindowCalendar(TimeWindow(times: [], days: [.monday]), in: zone)
            for time in [Timestamp(rawValue: .min), at("2026-01-01T00:00:00Z"), Timestamp(rawValue: .max)] {
                _ = window.isOpen(at: time)
                _ = window.nextChange(after: time)
            }
        }
    }

    /// Cut anywhere, or with any byte changed, a file is refused or read, and never brings the program down.
    @Test func aDamagedZoneFileIsRefusedOrParsedWithoutACrash() throws {
        let bytes = try FileTree.read("\(Zones.directory)/Europe/Berlin")
        for length in stride(from: 0, to: bytes.count, by: 7) {
            _ = try? TimeZoneFile.read(Array(bytes.prefix(length)))
        }
        for index in bytes.indices {
            var damaged = bytes
            damaged[index] ^= 0xA5
            let zone = try? TimeZoneFile.read(damaged)
            _ = zone?.nextChange(after: at("2026-01-01T00:00:00Z").second)
        }
    }
}

/// A zone file put together.
private struct TZif {
    var version: UInt8
    var times: [(Int64, UInt8)]
    var offsets: [Int32]
    var leaps: Int32 = 0

    func block(wide: Bool) -> [UInt8] {
        func big<T: FixedWidthInteger>(_ value: T) -> [UInt8] { withUnsafeBytes(of: value.bigEndian) { Array($0) } }
        var bytes = Array("TZif".utf8) + [version] + [UInt8](repeating: 0, count: 15)
        for count in [0, 0, leaps, Int32(times.count), Int32(offsets.count), 4] { bytes += big(count) }
        for (time, _) in times { bytes += wide ? big(time) : big(Int32(time)) }
        bytes += times.map(\.1)
        for offset in offsets { bytes += big(offset) + [0, 0] }
        return bytes + Array("XXX\0".utf8)
    }
}
