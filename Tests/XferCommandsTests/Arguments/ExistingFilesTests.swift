import Dispatch
import Testing
import XferModel
import XferProtocol

@testable import XferCommands

@Suite struct ExistingFilesTests {
    private func task(
        _ url: String, dir: String? = "/d", output: String? = nil, _ policy: ConflictPolicy? = nil
    ) -> NewTask {
        var task = NewTask(url: url)
        (task.dir, task.output) = (dir, output)
        task.destination.onConflict = Patch(policy)
        return task
    }

    @Test func aListSaysHowManyOfItsFilesAreThereAndWhatHappensToThem() {
        let tasks = [
            task("http://h/a%20b.iso?x=1"), task("http://h/c"), task("http://h/c", output: "sub/d.iso"),
            task("http://h/c", output: "/e/f.iso", .verify), task("http://h/none"),
        ]
        let there: Set = ["/d/a b.iso", "/d/sub/d.iso", "/e/f.iso"]
        #expect(
            ExistingFiles.lines(tasks) { there.contains($0) } == [
                "2 of 5 files exist already: fetched again under other names; --on-conflict skip keeps them, "
                    + "verify compares checksums",
                "1 of 5 files exists already: kept if they have their checksums, fetched again otherwise; "
                    + "without one, the server is asked first",
            ])
        #expect(ExistingFiles.lines(tasks) { _ in false }.isEmpty)
    }

    @Test func aFileWhoseNameOrDirectoryOnlyTheDaemonKnowsIsNotCounted() {
        var data = task("http://h/a")
        data.kind = .data
        let tasks = [data, task("http://h/a", dir: nil), task("http://h/d/"), task("http://h")]
        #expect(ExistingFiles.lines(tasks) { _ in true }.isEmpty)
    }

    @Test func aDirectoryThatDoesNotAnswerCostsTheHintOnly() throws {
        let gate = LookupGate()
        let tasks = [task("http://h/a"), task("http://h/b")]
        #expect(ExistingFiles.lines(tasks, within: .milliseconds(1)) { _ in gate.wait() } == nil)
        gate.open()
        let lines = try #require(ExistingFiles.lines(tasks, within: .seconds(600)) { _ in gate.wait() })
        #expect(lines.count == 1 && lines[0].hasPrefix("2 of 2 files exist already"))
    }

    /// An answer that comes late is neither used nor waited for, and ends the lookups that remain.
    @Test func anAbandonedLookupEnds() async throws {
        let gate = LookupGate()
        let (ends, end) = AsyncStream<Bool>.makeStream()
        let found = BoundedLookup.run(within: .milliseconds(1)) { isAbandoned in
            let answer = gate.wait()
            end.yield(isAbandoned())
            return answer
        }
        #expect(found == nil)
        gate.open()
        #expect(await ends.first { _ in true } == true)
    }

    @Test(arguments: ConflictPolicy.allCases)
    func everyPolicyIsExplained(policy: ConflictPolicy) throws {
        let lines = ExistingFiles.lines([task("http://h/a", policy)]) { _ in true }
        #expect(try #require(lines.first).hasPrefix("1 of 1 files exists already: ") && lines.count == 1)
    }
}

/// A lookup that blocks its thread until the gate is open, as one on a dead mount does.
private final class LookupGate: Sendable {
    private let semaphore = DispatchSemaphore(value: 0)

    func open() { semaphore.signal() }

    func wait() -> Bool {
        semaphore.wait()
        semaphore.signal()
        return true
    }
}
