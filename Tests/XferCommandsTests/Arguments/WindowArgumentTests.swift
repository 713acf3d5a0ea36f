import ArgumentParser
import Testing
import XferModel
import XferProtocol

@testable import XferCommands

struct WindowArgumentTests {
    @Test func anHourOfAWindowMayHaveOneDigit() throws {
        let window = try #require(WindowArgument(argument: "9:00-17:30"))
        #expect(window.record.times?.map(\.description) == ["09:00-17:30"])
    }

    @Test func aWindowIsParsedWithDaysTimesAndZoneInAnyOrder() throws {
        let window = try #require(WindowArgument(argument: "mon-wed,sun 22:00-06:00,12:00-13:00 Europe/Berlin"))
        #expect(window.record.days == [.monday, .tuesday, .wednesday, .sunday])
        #expect(window.record.times?.map(\.description) == ["22:00-06:00", "12:00-13:00"])
        #expect(window.record.zone == "Europe/Berlin")
        #expect(WindowArgument(argument: "local 00:00-24:00")?.record.zone == "local")
        // Over the weekend.
        #expect(WindowArgument(argument: "Mo-We,SUNDAY")?.record.days == [.monday, .tuesday, .wednesday, .sunday])
        #expect(WindowArgument(argument: "sat-mon")?.record.days == [.saturday, .sunday, .monday])
    }

    @Test(arguments: ["", "Europe/Berlin", "22:00", "22:00-22:00", "mon 25:00-26:00", "mon A/B C/D", "mon,funday"])
    func aTextThatIsNoWindowIsRejected(text: String) { #expect(WindowArgument(argument: text) == nil) }

    private func changes(_ words: [String]) throws -> TaskChanges {
        let update = try UpdateCommand.parse(words)
        return try update.changes(paths: .current(for: update.options.connection))
    }

    @Test func scheduleOptionsOfAddAndUpdateReachTheirFields() throws {
        let add = try AddCommand.parse([
            "--after", "3", "--after", "4", "--after-batch", "#5", "--after-group", "nightly", "--not-before",
            "2026-01-05T12:00:00Z", "--deadline",
            "2026-01-06T12:00:00Z",
            "--window", "sun", "https://example.org/f",
        ])
        let template = try TaskTemplate(
            AddOptionSet(
                destination: add.destination, content: add.content, request: add.request, response: add.response,
                cache: add.cache, session: add.session, access: add.access, scheduling: add.scheduling), count: 1,
            paths: .current(for: add.options.connection))
        let task = template.task("https://example.org/f")
        #expect(
            task.after == [TaskReference(TaskID(3)), TaskReference(TaskID(4))]
                && task.schedule.window.applied(to: nil)?.days == [.sunday])
        #expect(task.schedule.afterBatch == .set(BatchID(5)) && task.schedule.afterGroup == .set("nightly"))
        #expect(task.schedule.notBefore.isChange && task.schedule.deadline.isChange)

        let update = try UpdateCommand.parse([
            "7", "--after", "3", "--clear", "window", "--deadline", "2026-01-06T12:00:00Z", "--segments", "auto",
        ])
        let changes = try update.changes(paths: .current(for: update.options.connection))
        #expect(
            changes.after == .set([TaskID(3)]) && changes.schedule.window == .clear
                && changes.schedule.notBefore == .unchanged)
        #expect(changes.limits.segments == .set(.automatic))
        let join = try self.changes(["7", "--after-batch", "5", "--clear", "after-group"]).schedule
        #expect(join.afterBatch == .set(BatchID(5)) && join.afterGroup == .clear)
        #expect(try self.changes(["7", "--clear", "segments"]).limits.segments == .clear)
    }
}
