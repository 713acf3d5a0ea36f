import NIOConcurrencyHelpers
import Testing
import XferCore
import XferModel
import XferProtocol
import XferTestSupport

@testable import XferManager

/// Which limits on rates hold when.
@Suite struct RateLimitTests {
    private let midnight = Timestamp(seconds: 1_767_571_200)

    private func open(
        _ fixture: ManagerFixture, at time: NIOLockedValueBox<Timestamp>
    ) async throws -> TransferManager {
        try await fixture.open(clock: { time.withLockedValue(\.self) }) { settings in
            settings.bandwidth = BandwidthLimits(receive: 1000, send: 2000)
            settings.timetable = (try? BandwidthSchedule(parsing: ["08:00 5K/6K", "19:00 off"])) ?? BandwidthSchedule()
            settings.localZoneFile = "/nowhere"
        }
    }

    @Test func changesOfTwoLimitsAtOnceAreBothKept() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        for round in 1...10 {
            async let one: Void = manager.queue.setLimits { $0.maxActive = round }
            async let other: Void = manager.queue.setLimits { $0.maxReceiveRate = Int64(clamping: round) }
            _ = try await (one, other)
            let limits = try await manager.queue.stats(for: ManagerFixture.caller).limits
            #expect(limits.maxActive == round && limits.maxReceiveRate == Int64(clamping: round))
        }
        await manager.shutdown(.suspend)
    }

    @Test func theLimitsOfAProfileApplyWithItsChange() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        func limit() async -> Int? { await manager.scheduler.origins.machine.maxActiveByProfile["p"] }
        var profile = Profile(name: "p")
        (profile.maxActive, profile.isPolite) = (2, false)
        _ = try await manager.profiles.set(profile)
        #expect(await limit() == 2)
        #expect(await manager.scheduler.origins.machine.impoliteProfiles == ["p"])
        _ = try await manager.profiles.set(Profile(name: "p"))
        #expect(await limit() == nil)
        #expect(await manager.scheduler.origins.machine.impoliteProfiles == [])
        profile.maxActive = 4
        _ = try await manager.profiles.set(profile)
        #expect(await limit() == 4)
        try await manager.profiles.remove("p")
        #expect(await limit() == nil)
        await manager.shutdown(.suspend)
    }

    @Test func theTimetableBeatsTheConfigurationAndACallBeatsBoth() async throws {
        let fixture = try await ManagerFixture()
        let time = NIOLockedValueBox(midnight.advanced(by: .seconds(7 * 3600)))
        let manager = try await open(fixture, at: time)
        #expect(await manager.queue.rateLimits == BandwidthLimits())
        time.withLockedValue { $0 = $0.advanced(by: .seconds(3600)) }
        #expect(await manager.queue.rateLimits == BandwidthLimits(receive: 5000, send: 6000))
        try await manager.queue.setLimits { $0.maxReceiveRate = 77 }
        #expect(await manager.queue.rateLimits == BandwidthLimits(receive: 77, send: 6000))
        await manager.shutdown(.suspend)

        let next = try await open(fixture, at: time)
        try await next.start()
        #expect(await next.queue.rateLimits == BandwidthLimits(receive: 77, send: 6000))
        try await next.queue.setLimits { $0.maxReceiveRate = nil }
        #expect(await next.queue.rateLimits.receive == 5000)
        await next.shutdown(.suspend)
    }

    @Test func limitsSayWhatSetsThemAndUntilWhen() async throws {
        let fixture = try await ManagerFixture()
        let time = NIOLockedValueBox(midnight.advanced(by: .seconds(8 * 3600)))
        let manager = try await open(fixture, at: time)
        let timetabled = try await manager.queue.stats(for: ManagerFixture.caller).limits
        #expect(timetabled.overridden == nil && timetabled.timetabled == ["max_recv_rate", "max_send_rate"])
        #expect(timetabled.timetableUntil == midnight.advanced(by: .seconds(19 * 3600)))
        try await manager.queue.setLimits { ($0.maxReceiveRate, $0.maxActive) = (77, 3) }
        let mixed = try await manager.queue.stats(for: ManagerFixture.caller).limits
        #expect(mixed.overridden == ["max_active", "max_recv_rate"] && mixed.timetabled == ["max_send_rate"])
        try await manager.queue.setLimits { $0.maxSendRate = 0 }
        let set = try await manager.queue.stats(for: ManagerFixture.caller).limits
        #expect(set.timetabled == nil && set.timetableUntil == nil)
        await manager.shutdown(.suspend)
    }

    /// The clock goes over a weekend, in the night of which summer time begins in Berlin.
    @Test func theTimetableFollowsTheDaysOfTheWeek() async throws {
        let fixture = try await ManagerFixture()
        let time = NIOLockedValueBox(midnight)
        let manager = try await fixture.open(clock: { time.withLockedValue(\.self) }) { settings in
            let lines = ["mon-fri 08:00 5K", "mon-fri 19:00 off", "sun 02:30 6K"]
            settings.timetable = (try? BandwidthSchedule(parsing: lines)) ?? BandwidthSchedule()
            settings.localZoneFile = "/usr/share/zoneinfo/Europe/Berlin"
        }
        for (moment, rate) in [
            ("2026-03-27T17:59:59Z", 5000), ("2026-03-27T18:00:00Z", 0), ("2026-03-29T00:59:59Z", 0),
            ("2026-03-29T01:00:00Z", 6000), ("2026-03-30T05:59:59Z", 6000), ("2026-03-30T06:00:00Z", 5000),
        ] as [(String, Int64)] {
            let instant = try #require(Timestamp(rfc3339: moment))
            time.withLockedValue { $0 = instant }
            #expect(await manager.queue.rateLimits.receive == rate, "\(moment)")
        }
        await manager.shutdown(.suspend)
    }

    @Test func withoutATimetableTheConfiguredLimitsApply() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open(change: { $0.bandwidth = BandwidthLimits(receive: 1000, send: 2000) })
        #expect(await manager.queue.rateLimits == BandwidthLimits(receive: 1000, send: 2000))
        await manager.shutdown(.suspend)
    }
}
