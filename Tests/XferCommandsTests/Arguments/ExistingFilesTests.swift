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
                "1 of 5 files exists already: fetched again unless they have their checksums",
            ])
        #expect(ExistingFiles.lines(tasks) { _ in false }.isEmpty)
    }

    @Test func aFileWhoseNameOrDirectoryOnlyTheDaemonKnowsIsNotCounted() {
        var data = task("http://h/a")
        data.kind = .data
        let tasks = [data, task("http://h/a", dir: nil), task("http://h/d/"), task("http://h")]
        #expect(ExistingFiles.lines(tasks) { _ in true }.isEmpty)
    }

    @Test(arguments: ConflictPolicy.allCases)
    func everyPolicyIsExplained(policy: ConflictPolicy) throws {
        let lines = ExistingFiles.lines([task("http://h/a", policy)]) { _ in true }
        #expect(try #require(lines.first).hasPrefix("1 of 1 files exists already: ") && lines.count == 1)
    }
}
