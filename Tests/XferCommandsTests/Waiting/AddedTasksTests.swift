import Testing
import XferModel
import XferProtocol

@testable import XferCommands

/// Which tasks a waiting client need not have listed.
@Suite struct AddedTasksTests {
    private static func task(_ change: (inout NewTask) -> Void = { _ in }) -> NewTask {
        var task = NewTask()
        task.url = "https://user:secret@a.example/files/a%20b.iso?x=1"
        change(&task)
        return task
    }

    private static func answer(_ count: Int, existing: [Int] = [], seq: Int64? = 7) -> TaskAdd.Many {
        var answer = TaskAdd.Many(ids: (0..<count).map { TaskID(100 + Int64(clamping: $0)) }, existing: existing)
        answer.seq = seq
        return answer
    }

    @Test func aNewTaskIsKnownAsQueuedWithTheNameOfAListing() throws {
        let labelled = Self.task {
            $0.label = "the image"
            $0.output = "/srv/image.iso"
        }
        let added = try #require(AddedTasks(Self.answer(2), [Self.task(), labelled]))
        #expect(added.since == 7 && added.tasks.map(\.id) == [100, 101])
        #expect(added.tasks.map(\.name) == ["a b.iso", "the image"])
        #expect(added.tasks.map(\.fileName) == ["a b.iso", "image.iso"])
        #expect(added.tasks.allSatisfy { $0.state == "queued" && !$0.isTerminal })
    }

    @Test func aPasswordInAURLIsKeptNowhere() throws {
        let bare = Self.task { $0.url = "https://user:secret@a.example" }
        let added = try #require(AddedTasks(Self.answer(1), [bare]))
        #expect(!String(describing: added).contains("secret"))
    }

    /// Those that were there already may have ended long ago; the others may wait, and the listing says why.
    @Test func tasksThatDoNotBeginAsQueuedAreListed() throws {
        let tasks = [
            Self.task(), Self.task { $0.paused = true }, Self.task { $0.after = [] },
            Self.task { $0.schedule.notBefore = .set(Timestamp(microseconds: 1)) }, Self.task(),
        ]
        let added = try #require(AddedTasks(Self.answer(5, existing: [0]), tasks))
        #expect(added.tasks.map(\.id) == [104])
    }

    /// Without the number of an event nothing could be replayed.
    @Test func withoutANumberOfAnEventAllAreListed() {
        #expect(AddedTasks(Self.answer(1, seq: nil), [Self.task()])?.since == nil)
    }

    @Test func onlyATaskWithACachePolicyOrAProfileMayUseTheCache() throws {
        func mayUseCache(_ change: (inout NewTask) -> Void = { _ in }) throws -> Bool {
            try #require(AddedTasks(Self.answer(2), [Self.task(), Self.task(change)])).mayUseCache
        }
        #expect(try !mayUseCache())
        #expect(try mayUseCache { $0.profile = "p" })
        #expect(try mayUseCache { $0.choices.cachePolicy = .set(.protocol) })
    }
}
