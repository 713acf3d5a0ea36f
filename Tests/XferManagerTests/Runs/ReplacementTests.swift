import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferManager

/// A source that changes its version while a download of 3 MiB is continued at 2 MiB.
@Suite struct ReplacementTests {
    private static let mebibyte: Int64 = 1 << 20
    private static let rest = "bytes=\(2 * mebibyte)-"
    private static let old = SourceVersion.tagged(70, length: 3 * mebibyte)
    private static let new = SourceVersion.tagged(71, length: 3 * mebibyte + 5)

    /// The version of each answer and where it breaks off; the last one is repeated.
    private typealias Answer = (version: SourceVersion, end: Int64?)

    private struct Result {
        let task: TransferTask
        let ranges: [String?]
        let discards: [EventType]
        let fixture: ManagerFixture

        func expect(_ version: SourceVersion, _ ranges: [String?], discards: [EventType]) throws {
            #expect(task.state == .completed, "\(String(describing: task.error))")
            #expect(try version.equals(file: "\(fixture.downloads)/f"))
            #expect(self.ranges == ranges)
            #expect(self.discards == discards)
            #expect(try fixture.files() == ["f"])
        }
    }

    private static func download(_ answers: [Answer]) async throws -> Result {
        let fixture = try await ManagerFixture()
        fixture.server.on("/f") { request in
            let answer = answers[min(request.index, answers.count - 1)]
            var reply = answer.version.honestReply(to: request)
            if let end = answer.end { Fault.drop(after: end, by: .close).apply(to: &reply, request, answer.version) }
            return reply
        }
        let manager = try await fixture.open(change: {
            $0.retry = RetryPolicy(base: .milliseconds(1), cap: .milliseconds(1))
        })
        try await manager.start()
        let id = try await fixture.add("/f", as: "f", to: manager)
        let task = try await fixture.end(of: id, in: manager)
        let events = try await fixture.events(of: id, in: manager)
        await manager.shutdown(.suspend)
        return Result(
            task: task, ranges: fixture.server.requests.map { $0.header("Range") },
            discards: events.filter { [.taskBytesDiscarded, .taskSourceChanged].contains($0) }, fixture: fixture)
    }

    @Test func aNewVersionThatBreaksOffEarlyLeavesTheBytesOfTheOldOne() async throws {
        let result = try await Self.download([
            (Self.old, 2 * Self.mebibyte), (Self.new, Self.mebibyte), (Self.old, nil),
        ])
        try result.expect(Self.old, [nil, Self.rest, Self.rest], discards: [])
    }

    @Test func aNewVersionThatComesAgainReplacesTheBytesAtOnce() async throws {
        let result = try await Self.download([
            (Self.old, 2 * Self.mebibyte), (Self.new, Self.mebibyte), (Self.new, Self.mebibyte), (Self.new, nil),
        ])
        try result.expect(
            Self.new, [nil, Self.rest, Self.rest, "bytes=\(Self.mebibyte)-"], discards: [.taskSourceChanged])
    }

    @Test func aNewVersionThatHasAsManyBytesReplacesTheOldOne() async throws {
        let end = 2 * Self.mebibyte + 1000
        let result = try await Self.download([(Self.old, 2 * Self.mebibyte), (Self.new, end), (Self.new, nil)])
        try result.expect(Self.new, [nil, Self.rest, "bytes=\(end)-"], discards: [.taskSourceChanged])
    }

    @Test func aNewVersionThatIsWholeReplacesTheOldOne() async throws {
        let result = try await Self.download([(Self.old, 2 * Self.mebibyte), (Self.new, nil)])
        try result.expect(Self.new, [nil, Self.rest], discards: [.taskSourceChanged])
    }

    /// The whole of a shorter version has fewer bytes than are kept. It has to come three times, as before.
    @Test func aShorterVersionThatIsWholeReplacesTheOldOneOnceItIsConfirmed() async throws {
        let short = SourceVersion.tagged(72, length: Self.mebibyte)
        let result = try await Self.download([(Self.old, 2 * Self.mebibyte), (short, nil)])
        try result.expect(short, [nil, Self.rest, Self.rest, Self.rest], discards: [.taskSourceChanged])
    }
}
