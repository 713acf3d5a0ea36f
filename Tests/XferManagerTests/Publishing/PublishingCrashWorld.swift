import Glibc
import NIOConcurrencyHelpers
import XferCore
import XferModel
import XferStore
import XferTestSupport

@testable import XferFiles
@testable import XferManager

/// Tasks whose files a `PublishingRound` publishes in a real directory, with intents and ends in a real database, by a
/// service that is killed before and after each commit and each operation. Operations and commits fail. The traits of
/// the file system are drawn.
///
/// A kill leaves the files, and the database with its log as they are at that moment. A power cut is left to
/// `PublishRoundTests`, whose disk forgets.
final class PublishingCrashWorld: Sendable {
    enum End: Hashable {
        case published(String), skipped, refused

        var text: String {
            switch self {
            case .published(let name): "published \(name)"
            case .skipped: "skipped"
            case .refused: "refused"
            }
        }
    }

    struct Task: Sendable {
        let number: Int
        let wanted: String
        let policy: ConflictPolicy
        /// True if the file has no name before its final one, where the file system has such files.
        let isUnnamed: Bool
        let content: [UInt8]
        let digest: Checksum?

        var partName: String { ".xfer-\(number).part" }
    }

    private struct Killed: Error {}

    let path: String
    let tasks: [Task]
    let misfortune: Misfortune
    /// The content of other programs' files, by name.
    let others = NIOLockedValueBox<[String: [UInt8]]>([:])
    let problems = NIOLockedValueBox<[String]>([])
    private let temporary: TemporaryDirectory
    private let traits: FileSystemTraits
    private let pool = BlockingPool()
    private let store: NIOLockedValueBox<TaskStore>
    private let life = NIOLockedValueBox(0)

    init(seed: UInt64) throws {
        misfortune = Misfortune(seed: seed)
        temporary = try TemporaryDirectory("xfer-crash")
        path = try temporary.makeDirectory("downloads")
        var traits = try DirectoryHandle(ofService: path).traits
        if misfortune.strikes(0.3) { traits.keepsInodeNumbers = false }
        if misfortune.strikes(0.3) { traits.journalsLinks = false }
        for feature in FileSystemTraits.Feature.allCases where misfortune.strikes(0.3) {
            traits.lacking.insert(feature)
        }
        let probe = try UnnamedFile.create(in: DirectoryHandle(ofService: path), [], mode: 0o600, modifiedAt: nil)
        if probe == nil { traits.lacking.insert(.unnamedFiles) }
        self.traits = traits
        // Where files have neither a time of birth nor a generation, a digest has to prove which one it is.
        try FileTree.write("", to: temporary.file("probe"))
        let isRecognised = try DirectoryHandle(ofService: temporary.path).facts(of: "probe")?.mark.isCertain == true
        tasks = try (0..<misfortune.number(in: 1...4)).map { [misfortune] number in
            let isUnnamed = misfortune.strikes(0.5)
            let policies: [ConflictPolicy] = isUnnamed ? [.rename, .fail] : [.rename, .fail, .skip, .overwrite]
            // Lengths differ: where nothing else identifies a file, they do.
            let content = Array("the file of task \(number)\(String(repeating: "!", count: number))".utf8)
            let hasDigest = misfortune.strikes(0.5) || !isRecognised
            let digest = try hasDigest ? FileDigest.compute(content, algorithm: .sha256) : nil
            return Task(
                number: number, wanted: misfortune.pick(["a", "b"]), policy: misfortune.pick(policies),
                isUnnamed: isUnnamed, content: content, digest: digest)
        }
        let state = try temporary.makeDirectory("state-0", mode: 0o700)
        try FileTree.write(try PublishingCrashWorld.newDatabase.get(), to: "\(state)/xferd.sqlite", mode: 0o600)
        store = NIOLockedValueBox(try PublishingCrashWorld.open(in: state))
    }

    /// A database without tasks: to make one takes longer than a life.
    private static let newDatabase: Result<[UInt8], any Error> = Result {
        let directory = try TemporaryDirectory("xfer-crash")
        try PublishingCrashWorld.open(in: directory.path).close()
        return try FileTree.read("\(directory.path)/xferd.sqlite")
    }

    private static func open(in directory: String) throws -> TaskStore {
        try TaskStore.open(
            StoreConfiguration(
                path: "\(directory)/xferd.sqlite", onCommit: { _ in }, onDegradedChange: { _ in }))
    }

    /// Lives and dies several times, and ends without misfortunes.
    func run() async throws {
        try await addTasks()
        for number in 0..<6 {
            misfortune.isOn = number < 5
            do {
                try await live(rounds: misfortune.isOn ? 3 : 20)
                if !misfortune.isOn { break }
            } catch is Killed {
                try restart()
            }
        }
        try await compare()
        try store.withLockedValue(\.self).close()
    }

    /// What a kill leaves: copies of the database and its log, which a new service opens.
    private func restart() throws {
        let number = life.withLockedValue { life in
            life += 1
            return life
        }
        let next = try temporary.makeDirectory("state-\(number)", mode: 0o700)
        for name in ["xferd.sqlite", "xferd.sqlite-wal"] {
            let left = "\(temporary.path)/state-\(number - 1)/\(name)"
            if FileTree.exists(left) { try FileTree.write(try FileTree.read(left), to: "\(next)/\(name)", mode: 0o600) }
        }
        try store.withLockedValue(\.self).close()
        let opened = try PublishingCrashWorld.open(in: next)
        store.withLockedValue { $0 = opened }
        misfortune.revive()
    }

    // MARK: The database

    private func write<Value: Sendable>(
        _ body: @escaping @Sendable (StoreTransaction) throws -> Value
    ) async throws -> Value {
        guard !misfortune.kills() else { throw Killed() }
        let value = try await store.withLockedValue(\.self).write { try body($0) }
        guard !misfortune.kills() else { throw Killed() }
        return value
    }

    /// Each task has a transfer, whose row has the intent.
    private func addTasks() async throws {
        let location = PartialLocation(directory: path, identity: .unknown)
        try await store.withLockedValue(\.self).write { [tasks] tx in
            for task in tasks {
                let transfer = try tx.transfers.insert(partial: location, at: Timestamp(seconds: 1))
                try tx.settings.set("transfer \(task.number)", String(transfer.id.rawValue))
            }
        }
    }

    private struct Row: Sendable {
        let transfer: TransferID
        let intent: PublishIntent?
        let end: String?
    }

    private func rows() async throws -> [Row] {
        try await store.withLockedValue(\.self).read { [tasks] reader in
            try tasks.compactMap { task in
                guard let text = try reader.settings.find("transfer \(task.number)"), let id = Int64(text) else {
                    return nil
                }
                return Row(
                    transfer: TransferID(id), intent: try reader.transfers.find(TransferID(id))?.publishIntent,
                    end: try reader.settings.find("end \(task.number)"))
            }
        }
    }

    private func commitEnd(_ end: End, of task: Task, _ row: Row) async throws {
        misfortune.note("\(task.number): \(end.text)")
        if end == .skipped || end == .refused, !FileTree.exists("\(path)/\(task.wanted)") {
            problems.withLockedValue { $0.append("\(task.number) is \(end.text) for no file") }
        }
        let isFirst = try await write { tx in
            let isFirst = try tx.settings.find("end \(task.number)") == nil
            try tx.settings.set("end \(task.number)", end.text)
            try tx.transfers.delete(row.transfer)
            return isFirst
        }
        if !isFirst { problems.withLockedValue { $0.append("\(task.number) ends twice") } }
    }

    // MARK: One life

    private func directory() throws -> DirectoryHandle {
        switch openDescriptor(path, flags: O_RDONLY | O_DIRECTORY) {
        case .value(let handle): return try DirectoryHandle(path: path, handle: handle, traits: traits)
        case .failure(let code): throw FileError.system(operation: "open", path: path, code: code)
        }
    }

    private func live(rounds: Int) async throws {
        let directory = try directory()
        for _ in 0..<rounds {
            var due: [(task: Task, row: Row)] = []
            let rows = try await rows()
            for (task, row) in zip(tasks, rows) {
                if row.end != nil {
                    // Bytes that no row names any more.
                    FileTree.remove("\(path)/\(task.partName)")
                } else if let intent = row.intent {
                    try await settle(intent, of: task, row, in: directory)
                } else {
                    due.append((task, row))
                }
            }
            if rows.allSatisfy({ $0.end != nil }) { return }
            if !due.isEmpty { try await publish(due, in: directory) }
        }
    }

    private func settle(_ intent: PublishIntent, of task: Task, _ row: Row, in directory: DirectoryHandle) async throws
    {
        // The disk does not answer now.
        guard !misfortune.strikes(0.1) else { return }
        let hadPart = !hasNoName(task)
        let way = try Publisher(directory: directory).recover(intent, partName: hadPart ? task.partName : nil)
        misfortune.note("\(task.number): \(way) from \(intent.finalName)")
        if way == .repeat, hadPart, !FileTree.exists("\(path)/\(task.partName)") {
            problems.withLockedValue { $0.append("\(task.number) has no bytes to publish") }
        }
        if way == .done {
            try await commitEnd(.published(intent.finalName), of: task, row)
        } else {
            try await write { tx in try tx.transfers.setPublishIntent(nil, of: row.transfer) }
        }
    }

    private func hasNoName(_ task: Task) -> Bool { task.isUnnamed && !traits.lacking.contains(.unnamedFiles) }

    /// The file of a task, as a finished download leaves it.
    private func file(of task: Task, in directory: DirectoryHandle) throws -> PublishingFile {
        let place = PublishingPlace(
            key: PublishingPlace.Key(path: path, owner: Owner(uid: 1000), confinement: nil),
            reopen: { directory }, guestPool: nil)
        if hasNoName(task), let file = try UnnamedFile.create(in: directory, task.content, mode: 0o644, modifiedAt: nil)
        {
            try file.sync()
            return PublishingFile(
                content: .unnamed(file), name: task.wanted, policy: task.policy, digest: task.digest, place: place)
        }
        let part: PartialFile
        if FileTree.exists("\(path)/\(task.partName)") {
            part = try PartialFile.open(in: directory, named: task.partName)
        } else {
            part = try PartialFile.create(in: directory, named: task.partName)
            try FileTree.write(task.content, to: "\(path)/\(task.partName)")
        }
        return PublishingFile(
            content: .part(part), name: task.wanted, policy: task.policy, digest: task.digest, place: place,
            attributes: Publisher.Attributes(length: Int64(task.content.count), mode: 0o644))
    }

    private func publish(_ due: [(task: Task, row: Row)], in directory: DirectoryHandle) async throws {
        let files = try due.map { try file(of: $0.task, in: directory) }
        defer { for file in files { file.part?.close() } }
        let operations = FaultyOperations(directory, misfortune) { [self] in meddle() }
        var round = PublishingRound(files, in: directory, on: pool, mostLostNames: 6, by: operations)
        var outcomes: [Int: PublishingRound.Outcome] = [:]
        let transfers = due.map(\.row.transfer)
        await round.carryOut { [self] intended in
            await commit(intended, of: transfers)
        } onEnd: { number, outcome in
            if outcomes.updateValue(outcome, forKey: number) != nil {
                problems.withLockedValue { $0.append("\(number) of a round ends twice") }
            }
        }
        guard !misfortune.isDead else { throw Killed() }
        if outcomes.count != due.count { problems.withLockedValue { $0.append("a round has lost files") } }
        for (number, (task, row)) in due.enumerated() {
            switch outcomes[number] {
            case .published(let intent): try await commitEnd(.published(intent.finalName), of: task, row)
            case .skipped: try await commitEnd(.skipped, of: task, row)
            case .failed(FileError.nameTaken): try await commitEnd(.refused, of: task, row)
            case .stopped, .failed, .uncertain, nil: break
            }
        }
    }

    private func commit(
        _ intended: [PublishingRound.Intended], of transfers: [TransferID]
    ) async -> [Result<Bool, any Error>] {
        let refused = intended.map { _ in misfortune.strikes(0.05) }
        do {
            return try await write { tx in
                try zip(intended, refused).map { intended, isRefused -> Result<Bool, any Error> in
                    if isRefused { return .failure(StoreError.degraded(reason: "a misfortune")) }
                    try tx.transfers.setPublishIntent(intended.intent, of: transfers[intended.file])
                    return .success(true)
                }
            }
        } catch {
            return intended.map { _ in .failure(error) }
        }
    }

    /// Another program makes a file.
    private func meddle() {
        guard misfortune.strikes(0.15) else { return }
        let name = misfortune.pick(["a", "b", "a (1)", "b (1)"])
        guard !FileTree.exists("\(path)/\(name)") else { return }
        let content = Array("a file of another program: \(name)".utf8)
        do {
            try FileTree.write(content, to: "\(path)/\(name)")
            others.withLockedValue { $0[name] = content }
            misfortune.note("another program makes \(name)")
        } catch {
            problems.withLockedValue { $0.append("\(error)") }
        }
    }

    // MARK: The oracle

    /// Compares what the database says with the directory. It shares no code with what it judges.
    private func compare() async throws {
        var found: [String] = []
        var publishers: [String: [Task]] = [:]
        for (task, row) in zip(tasks, try await rows()) {
            guard let end = row.end else {
                found.append("task \(task.number) does not end")
                continue
            }
            if row.intent != nil { found.append("task \(task.number) has ended with an intent") }
            if end.hasPrefix("published ") { publishers[String(end.dropFirst(10)), default: []].append(task) }
        }
        let files = try FileTree.names(in: path).reduce(into: [String: [UInt8]]()) { files, name in
            files[name] = try FileTree.read("\(path)/\(name)")
        }
        for (name, tasks) in publishers {
            if !tasks.contains(where: { $0.content == files[name] }) { found.append("\(name) is not its task's") }
            if tasks.count(where: { $0.policy != .overwrite }) > 1 { found.append("\(name) was given twice") }
        }
        let others = others.withLockedValue(\.self)
        for (name, content) in files where others[name] != content {
            if publishers[name]?.contains(where: { $0.content == content }) != true {
                found.append("\(name) is left over with \(content.count) bytes")
            }
        }
        for (name, content) in others where files[name] != content {
            if publishers[name]?.contains(where: { $0.policy == .overwrite }) != true {
                found.append("another program's \(name) is gone")
            }
        }
        problems.withLockedValue { $0 += found }
    }
}
