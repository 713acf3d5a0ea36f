import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferManager

/// Servers whose parts do not say which version they are of, or that refuse every part.
@Suite struct RangeProofTests {
    private static let cut: Int64 = 100_000
    private static let rest = "bytes=100000-"
    private static let tagged = SourceVersion.tagged(30, length: 300_000)
    private static let dated = SourceVersion(seed: 31, length: 300_000, lastModified: HTTPDate.text(1_700_000_000))
    private static let untagged = Fault.header("ETag", nil)
    private static let undated = Fault.header("Last-Modified", nil)

    /// Downloads `/f` with a manager that repeats requests at once, and returns the task with the types of its events.
    private static func download(_ fixture: ManagerFixture) async throws -> (task: TransferTask, events: [EventType]) {
        let manager = try await fixture.open(change: {
            $0.retry = RetryPolicy(base: .milliseconds(1), cap: .milliseconds(1))
        })
        try await manager.start()
        let id = try await fixture.add("/f", as: "f", to: manager)
        let task = try await fixture.end(of: id, in: manager)
        let events = try await fixture.events(of: id, in: manager)
        await manager.shutdown(.suspend)
        return (task, events)
    }

    private static func expectDownloaded(_ version: SourceVersion, _ task: TransferTask, _ fixture: ManagerFixture)
        throws
    {
        #expect(task.state == .completed, "\(String(describing: task.error))")
        #expect(try version.equals(file: "\(fixture.downloads)/f"))
    }

    private static func ranges(_ fixture: ManagerFixture) -> [String?] {
        fixture.server.requests.map { $0.header("Range") }
    }

    private static let discards: Set<EventType> = [.taskBytesDiscarded, .taskSourceChanged]

    @Test(arguments: [
        (tagged, untagged, "\"v30\"", "\"xfer-v30\""),
        (dated, undated, HTTPDate.text(1_700_000_000), HTTPDate.text(1_700_000_001)),
    ])
    func aPartWithoutAValidatorIsContinuedIfTheServerHonoursIfRange(
        source: SourceVersion, bare: Fault, kept: String, other: String
    ) async throws {
        let fixture = try await ManagerFixture()
        fixture.server.serve("/f", source, faults: [[.drop(after: Self.cut, by: .close)], [bare], [], [bare]])
        let (task, events) = try await Self.download(fixture)
        try Self.expectDownloaded(source, task, fixture)
        #expect(Self.ranges(fixture) == [nil, Self.rest, Self.rest, Self.rest])
        #expect(fixture.server.requests.map { $0.header("If-Range") } == [nil, kept, other, kept])
        #expect(events.allSatisfy { !Self.discards.contains($0) })
    }

    @Test func aPartWithoutAValidatorIsRefusedIfTheServerIgnoresIfRange() async throws {
        let fixture = try await ManagerFixture()
        let ignoring = [Fault.ignoreIfRange, Self.untagged]
        fixture.server.serve(
            "/f", Self.tagged, faults: [[.drop(after: Self.cut, by: .close)], ignoring, ignoring, []])
        let (task, events) = try await Self.download(fixture)
        try Self.expectDownloaded(Self.tagged, task, fixture)
        #expect(Self.ranges(fixture) == [nil, Self.rest, Self.rest, nil])
        #expect(events.filter(Self.discards.contains).count == 1)
    }

    /// Serves the version, whose first body breaks off, and refuses every range.
    private static func refuseRanges(_ fixture: ManagerFixture, with status: Int, next: SourceVersion = tagged) {
        fixture.server.on("/f") { request in
            if request.header("Range") != nil { return .failure(status) }
            guard request.index == 0 else { return next.honestReply(to: request) }
            var reply = tagged.honestReply(to: request)
            Fault.drop(after: cut, by: .close).apply(to: &reply, request, tagged)
            return reply
        }
    }

    @Test(arguments: [400, 403, 405, 412, 500]) func aServerThatRefusesEveryRangeIsAskedForTheWhole(status: Int)
        async throws
    {
        let fixture = try await ManagerFixture()
        Self.refuseRanges(fixture, with: status)
        let (task, events) = try await Self.download(fixture)
        try Self.expectDownloaded(Self.tagged, task, fixture)
        // The first refusal may pass.
        #expect(Self.ranges(fixture) == [nil, Self.rest, Self.rest, nil])
        #expect(events.allSatisfy { !Self.discards.contains($0) })
    }

    @Test func anotherVersionInPlaceOfRefusedRangesReplacesTheKeptBytes() async throws {
        let fixture = try await ManagerFixture()
        let next = SourceVersion.tagged(32, length: 310_000)
        Self.refuseRanges(fixture, with: 403, next: next)
        let (task, events) = try await Self.download(fixture)
        try Self.expectDownloaded(next, task, fixture)
        #expect(events.filter(Self.discards.contains) == [.taskSourceChanged])
    }
}
