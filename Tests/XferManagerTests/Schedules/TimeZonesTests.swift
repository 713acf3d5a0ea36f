import Logging
import Testing
import XferCore
import XferFiles
import XferModel
import XferTestSupport

@testable import XferManager

@Suite struct TimeZonesTests {
    private let directory: TemporaryDirectory
    private let zones: TimeZones

    init() throws {
        directory = try TemporaryDirectory("zones")
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        zones = TimeZones(
            files: ZoneFiles(directory: directory.path, localFile: directory.file("local")), logger: logger)
    }

    private func install(_ source: String, as name: String) throws {
        try FileTree.write(try FileTree.read("/usr/share/zoneinfo/\(source)"), to: directory.file(name))
    }

    @Test func aChangedZoneIsReadAgainAndARemovedOneIsKept() throws {
        try install("Asia/Kolkata", as: "Here")
        #expect(zones.rules(named: "Here")?.offset(at: 0) == 19_800)
        try install("Asia/Tokyo", as: "Here")
        // Within a minute the file is not checked again, except after `recheck`.
        #expect(zones.rules(named: "Here")?.offset(at: 0) == 19_800)
        zones.recheck()
        #expect(zones.rules(named: "Here")?.offset(at: 0) == 32_400)
        try FileTree.write("no zone", to: directory.file("Here"))
        zones.recheck()
        #expect(zones.rules(named: "Here")?.offset(at: 0) == 32_400)
        FileTree.remove(directory.file("Here"))
        zones.recheck()
        #expect(zones.rules(named: "Here")?.offset(at: 0) == 32_400)
        try install("Asia/Kolkata", as: "Here")
        zones.recheck()
        #expect(zones.rules(named: "Here")?.offset(at: 0) == 19_800)
    }

    @Test func unknownAndInvalidZonesAreRefused() throws {
        #expect(throws: TimeZones.Fault.self) { try zones.check("Nowhere") }
        #expect(throws: TimeZones.Fault.self) { try zones.check("../local") }
        try FileTree.write("no zone", to: directory.file("Bad"))
        #expect(throws: TimeZones.Fault.self) { try zones.check("Bad") }
        #expect(zones.rules(named: "Bad") == nil)
        // Without /etc/localtime it is UTC (localtime(5)).
        try zones.check(nil)
        #expect(zones.rules(named: nil) == .utc)
        try install("Asia/Tokyo", as: "local")
        zones.recheck()
        #expect(zones.rules(named: nil)?.offset(at: 0) == 32_400)
    }
}
