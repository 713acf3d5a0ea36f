import Glibc
import Logging
import NIOConcurrencyHelpers
import XferCore
import XferModel
import XferProtocol
import XferSystem
import XferTestSupport

@testable import XferManager

/// A manager with a real database, real files and a server that misbehaves as told.
final class ManagerFixture: Sendable {
    let directory: TemporaryDirectory
    private let states: TemporaryDirectory
    let server: FaultServer
    let downloads: String
    private let opened = NIOLockedValueBox(0)
    static let caller = Principal(owner: Owner(uid: 0), isOperator: true, roots: ["/"])

    init() async throws {
        directory = try TemporaryDirectory("xfer-manager")
        states = try TemporaryDirectory("xfer-states", in: TemporaryDirectory.memory)
        downloads = try directory.makeDirectory("downloads")
        // Those who are no operators go there with their own rights.
        chmod(directory.path, 0o755)
        chmod(downloads, 0o777)
        server = try await FaultServer()
    }

    /// Opens a manager on what the last one left, once that is shut down; nothing starts before `start`.
    ///
    /// On a copy of its database: a state directory stays locked as long as the process lives.
    func open(
        clock: @escaping WallClock = Clocks.wall, change: (inout ManagerSettings) -> Void = { _ in }
    ) async throws -> TransferManager { try await open(clock: clock, both: nil, change) }

    /// The database of the manager that was opened last.
    var lastDatabase: String { database(opened.withLockedValue(\.self)) }

    /// The database of the manager that was opened as number `count`, from 1.
    func database(_ count: Int) -> String { states.file("state\(count)/xferd.sqlite") }

    /// As `open(clock:change:)`, with the clocks that retention uses.
    func open(clocks: @escaping ClockReader) async throws -> TransferManager {
        try await open(clock: { clocks().wall }, both: clocks) { _ in }
    }

    private func open(
        clock: @escaping WallClock, both clocks: ClockReader?, _ change: (inout ManagerSettings) -> Void
    ) async throws -> TransferManager {
        let count = opened.withLockedValue { count in
            count += 1
            return count
        }
        let stateDirectory = try states.makeDirectory("state\(count)", mode: 0o700)
        for suffix in ["", "-wal"] {
            let last = database(count - 1) + suffix
            guard FileTree.exists(last) else { continue }
            try FileTree.write(try FileTree.read(last), to: database(count) + suffix, mode: 0o600)
        }
        var settings = ManagerSettings(downloadDirectory: downloads, roots: [directory.path], ownUID: 0)
        settings.reserve = 0
        let guests = Array(1000...1010) + [4711]
        settings.grants.users = Dictionary(uniqueKeysWithValues: guests.map { (UInt32($0), [directory.path]) })
        (settings.maxActive, settings.maxActivePerHost) = (6, 6)
        // Networks that other tests of the machine set up and remove would start stalled transfers again.
        settings.monitorsNetwork = false
        // Every test of the manager can be run so: see CONTRIBUTING.md.
        settings.repeatsWrites = getenv("XFER_REPEAT_WRITES") != nil
        change(&settings)
        var logger = Logger(label: "test")
        logger.logLevel = .critical
        return try await TransferManager.open(
            stateDirectory: stateDirectory, settings: settings, version: "test", logger: logger,
            reader: { (_, _, _) throws(UnreadableResponse) in throw UnreadableResponse("no reader in this test") },
            clock: clock, clocks: clocks)
    }

    func add(
        _ path: String, as name: String, to manager: TransferManager, startsPaused: Bool = false, url: String? = nil,
        maxReceiveRate: Int64 = 0, retriesFailed: Bool = false, for caller: Principal = caller,
        _ change: @escaping @Sendable (inout TaskSpecification) -> Void = { _ in }
    ) async throws -> TaskID {
        try await add(
            url: url ?? server.url(path), as: name, to: manager, startsPaused: startsPaused,
            maxReceiveRate: maxReceiveRate, retriesFailed: retriesFailed, for: caller, change)
    }

    func add(
        url: String, as name: String, to manager: TransferManager, startsPaused: Bool = false,
        maxReceiveRate: Int64 = 0, retriesFailed: Bool = false, for caller: Principal = caller,
        _ change: @escaping @Sendable (inout TaskSpecification) -> Void = { _ in }
    ) async throws -> TaskID {
        let directory = downloads
        let draft = TaskDraft(url: url, retriesFailed: retriesFailed) { request in
            var specification = TaskSpecification(
                owner: caller.owner, request: request,
                destination: Destination(directory: directory, name: name), startsPaused: startsPaused,
                maxReceiveRate: maxReceiveRate)
            // Many servers of the tests stall on purpose, and a starved test process can be silent for a minute.
            specification.request.timeouts.idle = Double(600 * Patience.factor)
            change(&specification)
            return specification
        }
        guard let added = try await manager.tasks.add([draft], for: caller).first else {
            throw TimedOut("nothing was added")
        }
        return added.id
    }

    /// Waits for the task's end. A download of many tries takes minutes on a busy machine.
    func end(of id: TaskID, in manager: TransferManager) async throws -> TransferTask {
        let waited = try await manager.queries.wait(
            for: [id], until: [], timeout: Double(240 * Patience.factor), for: Self.caller)
        guard let task = waited.tasks.first, !waited.isTimedOut else { throw TimedOut("\(waited.tasks)") }
        return task
    }

    /// Types of the task's events, oldest first.
    func events(of id: TaskID, in manager: TransferManager) async throws -> [EventType] {
        guard
            case .events(let events, _) = try await manager.queries.events(
                since: 0, EventFilter(taskIDs: [id]), limit: 1000)
        else { return [] }
        return events.map(\.type)
    }

    /// What lies in the downloads directory.
    func files() throws -> [String] { try FileTree.entries(below: downloads) }
}

extension TaskChanges {
    /// The changes that `change` names.
    static func changing(_ change: (inout TaskChanges) -> Void) -> TaskChanges {
        var changes = TaskChanges()
        change(&changes)
        return changes
    }
}
