import NIOConcurrencyHelpers
import Testing
import XferFiles
import XferModel
import XferStore
import XferTestSupport

@testable import XferManager

/// Files that become whole at the same time, in one directory.
struct PublishingStageTests {
    @Test func filesOfOneNameGetANameEach() async throws {
        let fixture = try StageFixture()
        let names = try await fixture.publish(names: Array(repeating: "file.txt", count: 60), .rename)
        #expect(names.count == 60)
        #expect(try fixture.published == names)
        #expect(names.isSuperset(of: ["file.txt", "file (1).txt", "file (31).txt"]))
        // Whatever name each has, the bytes under it are its own.
        for (number, name) in try await fixture.owners() {
            #expect(try FileTree.text("\(fixture.path)/\(name)") == "file \(number)")
        }
        #expect(fixture.commits < 200)
    }

    @Test(arguments: [ConflictPolicy.skip, .fail])
    func onlyTheFirstOfSeveralFilesOfOneNameGetsIt(policy: ConflictPolicy) async throws {
        let fixture = try StageFixture()
        let results = await fixture.results(names: Array(repeating: "file", count: 12), policy)
        #expect(try fixture.published == ["file"])
        let outcomes = results.map { result -> String in
            switch result {
            case .published: "published"
            case .skipped: "skipped"
            case .stopped: "stopped"
            case .failed(FileError.nameTaken): "taken"
            case .failed(let error), .uncertain(let error): "\(error)"
            }
        }
        let other = policy == .skip ? "skipped" : "taken"
        #expect(outcomes.sorted() == (["published"] + Array(repeating: other, count: 11)).sorted())
    }

    @Test func overwritingFilesKeepTheirName() async throws {
        let fixture = try StageFixture()
        let names = try await fixture.publish(names: Array(repeating: "file", count: 5), .overwrite)
        #expect(names == ["file"])
        #expect(try fixture.published == ["file"])
    }

    @Test func aStoppedTaskIsNotPublished() async throws {
        let fixture = try StageFixture()
        let results = await fixture.results(names: ["a", "b", "c"], .rename) { number, control in
            if number == 1 { _ = control.requestStop() }
        }
        guard case .stopped = results[1] else {
            Issue.record("\(results[1])")
            return
        }
        #expect(try fixture.published == ["a", "c"])
        #expect(fixture.commits == 2)
    }

    @Test func aNameThatAnotherTaskHoldsIsPassedOver() async throws {
        let fixture = try StageFixture(held: ["file", "file (2)"])
        let names = try await fixture.publish(names: Array(repeating: "file", count: 3), .rename)
        #expect(names == ["file (1)", "file (3)", "file (4)"])
    }

    @Test func aFailedPublishDoesNotFailTheOthers() async throws {
        let fixture = try StageFixture()
        let results = await fixture.results(names: ["a", "b", "c", "d"], .rename) { number, _ in
            // Another file under the part's name.
            guard number == 2 else { return }
            FileTree.remove("\(fixture.path)/\(fixture.partName(number))")
        }
        guard case .failed(FileError.partChanged) = results[2] else {
            Issue.record("\(results[2])")
            return
        }
        #expect(try fixture.published == ["a", "b", "d"])
    }

    /// A file that is no task's takes the name after the intent was committed.
    @Test func anIntentWhoseNameWasTakenIsCommittedAgainUnderAnotherName() async throws {
        let fixture = try StageFixture(snatched: ["file"])
        let names = try await fixture.publish(names: ["file"], .rename)
        #expect(names == ["file (1)"])
        #expect(fixture.commits == 2)
        // Nothing was known to be committed before the first, and the first before the second.
        #expect(fixture.knownAtCommit == [false, true])
    }

    /// An operator's path or a guest's leads elsewhere before the round, or once its files have their names: only that
    /// owner's files are concerned, and they get the names of their parts back.
    @Test(arguments: [1000, 1002], [0, 1])
    func filesWhosePathIsLostHaveNoNameAndTheOthersDo(uid: UInt32, openings: Int) async throws {
        let fixture = try StageFixture(lostAfter: [Owner(uid: uid): openings])
        let results = await fixture.results(names: ["a", "b", "c"], .rename)
        let lost = Int(uid) - 1000
        guard case .failed(FileError.destinationChanged) = results[lost] else {
            Issue.record("\(results[lost])")
            return
        }
        let others = Set(["a", "b", "c"]).subtracting([["a", "b", "c"][lost]])
        #expect(try fixture.published == others)
        #expect(FileTree.exists("\(fixture.path)/\(fixture.partName(lost))"))
    }

    @Test func aPublishedFileHasItsMode() async throws {
        let fixture = try StageFixture(held: ["file", "file (1)"])
        _ = try await fixture.publish(names: ["file", "file"], .rename)
        for name in ["file (2)", "file (3)"] { #expect(FileTree.mode("\(fixture.path)/\(name)") == 0o640) }
    }
}

/// A stage with a database and a directory, and files that are whole.
private final class StageFixture: Sendable {
    let directory: DirectoryHandle
    private let temporary: TemporaryDirectory
    private let stage: PublishingStage
    private let guestPool = BlockingPool()
    /// How often each owner's path was opened.
    private let openings = NIOLockedValueBox<[Owner: Int]>([:])
    /// The number of openings after which an owner's path does not lead to the directory any more.
    private let lostAfter: [Owner: Int]
    private let store: TaskStore
    private let held: Set<String>
    private let snatched: NIOLockedValueBox<Set<String>>
    private let isKnown = NIOLockedValueBox(false)
    private let known = NIOLockedValueBox<[Bool]>([])
    private let commitCount = NIOLockedValueBox(0)
    private let names = NIOLockedValueBox<[Int: String]>([:])

    var path: String { directory.path }
    /// Whether an intent was known to be committed when each was.
    var knownAtCommit: [Bool] { known.withLockedValue(\.self) }
    var commits: Int { commitCount.withLockedValue(\.self) }

    /// Final names in the directory.
    var published: Set<String> {
        get throws { Set(try FileTree.names(in: path).filter { !$0.hasPrefix(".") }) }
    }

    /// - Parameters:
    ///   - held: names that other tasks hold.
    ///   - snatched: names that other files take once an intent names them.
    ///   - lostAfter: the number of openings after which an owner's path does not lead to the directory any more.
    init(held: Set<String> = [], snatched: Set<String> = [], lostAfter: [Owner: Int] = [:]) throws {
        self.held = held
        self.lostAfter = lostAfter
        self.snatched = NIOLockedValueBox(snatched)
        temporary = try TemporaryDirectory("xfer-stage")
        let downloads = try temporary.makeDirectory("downloads")
        directory = try DirectoryHandle(ofService: downloads)
        store = try TaskStore.open(
            StoreConfiguration(path: temporary.file("xferd.sqlite"), onCommit: { _ in }, onDegradedChange: { _ in }))
        stage = PublishingStage(store: store, pool: { [pool = BlockingPool()] _ in pool })
    }

    deinit { try? store.close() }

    /// The place of a file: a guest's for every third one, with the paths that were moved away.
    private func place(_ number: Int) -> PublishingPlace {
        let owner = Owner(uid: UInt32(clamping: 1000 + number % 3))
        return PublishingPlace(
            key: PublishingPlace.Key(path: path, owner: owner, confinement: nil),
            reopen: { [directory, openings, lostAfter] in
                let count = openings.withLockedValue { openings in
                    openings[owner, default: 0] += 1
                    return openings[owner, default: 0]
                }
                if let limit = lostAfter[owner], count > limit { throw FileError.missing(path: directory.path) }
                return directory
            },
            guestPool: number % 3 == 2 ? guestPool : nil)
    }

    func partName(_ number: Int) -> String { ".part-\(number)" }

    /// The name each file got, by its number.
    func owners() async throws -> [Int: String] { names.withLockedValue(\.self) }

    func publish(names: [String], _ policy: ConflictPolicy) async throws -> Set<String> {
        Set(
            try await results(names: names, policy).map { result in
                guard case .published(let intent) = result else {
                    throw TransferError(.internalError, "\(result)")
                }
                return intent.finalName
            })
    }

    func results(
        names wanted: [String], _ policy: ConflictPolicy,
        meddle: @escaping @Sendable (Int, RunControl) -> Void = { _, _ in }
    ) async -> [PublishingRound.Outcome] {
        await withTaskGroup(of: (Int, PublishingRound.Outcome).self) { group in
            for (number, name) in wanted.enumerated() {
                group.addTask {
                    do {
                        return (number, try await self.publish(number, as: name, policy, meddle))
                    } catch {
                        return (number, .failed(error))
                    }
                }
            }
            return await group.reduce(into: [(Int, PublishingRound.Outcome)]()) { $0.append($1) }
                .sorted { $0.0 < $1.0 }.map(\.1)
        }
    }

    private func publish(
        _ number: Int, as name: String, _ policy: ConflictPolicy, _ meddle: (Int, RunControl) -> Void
    ) async throws -> PublishingRound.Outcome {
        let file = try PartialFile.create(in: directory, named: partName(number))
        try FileTree.write("file \(number)", to: "\(path)/\(partName(number))")
        let control = RunControl(kind: .download)
        meddle(number, control)
        let outcome = await stage.publish(
            PublishingFile(
                content: .part(file), name: name, policy: policy, digest: nil, place: place(number),
                attributes: Publisher.Attributes(length: Int64("file \(number)".utf8.count), mode: 0o640),
                begins: { control.beginPublishing() }),
            in: directory,
            committing: { [held, commitCount, snatched, isKnown, known, path] tx, intent, _ in
                guard !held.contains(intent.finalName) else { return false }
                commitCount.withLockedValue { $0 += 1 }
                known.withLockedValue { $0.append(isKnown.withLockedValue(\.self)) }
                try tx.settings.set("intent \(number)", intent.finalName)
                if snatched.withLockedValue({ $0.remove(intent.finalName) }) != nil {
                    try FileTree.write("another", to: "\(path)/\(intent.finalName)")
                }
                return true
            },
            onIntent: { [isKnown] in isKnown.withLockedValue { $0 = true } })
        if case .published(let intent) = outcome { names.withLockedValue { $0[number] = intent.finalName } }
        return outcome
    }
}
