import Foundation
import GRDB
import XferModel
import XferSystem
import XferTestSupport

@testable import XferStore

/// A directory of its own for a test's database, removed with it.
final class StoreDirectory: Sendable {
    private let directory: TemporaryDirectory
    var path: String { directory.path }
    var database: String { directory.file("xferd.sqlite") }

    init() throws { directory = try TemporaryDirectory("xfer-store", in: TemporaryDirectory.memory) }

    func open(
        onCommit: @escaping @Sendable ([Event]) -> Void = { _ in },
        onDegradedChange: @escaping @Sendable (String?) -> Void = { _ in }
    ) throws -> TaskStore {
        var configuration = StoreConfiguration(
            path: database, onCommit: onCommit, onDegradedChange: onDegradedChange)
        configuration.probeInterval = .milliseconds(5)
        return try TaskStore.open(configuration)
    }

    /// Runs SQL on a connection of its own, as people do with sqlite3(1).
    func execute(_ sql: String) throws {
        let queue = try DatabaseQueue(path: database)
        try queue.writeWithoutTransaction { try $0.execute(sql: sql) }
        try queue.close()
    }

    /// The first column of a query's first row.
    func value(_ sql: String) throws -> String? {
        let queue = try DatabaseQueue(path: database)
        defer { try? queue.close() }
        return try queue.read { try String.fetchOne($0, sql: sql) }
    }

    func bytes(_ suffix: String = "") -> Data? { FileManager.default.contents(atPath: database + suffix) }
}

/// Opens a store in a directory of its own, and closes it.
func withStore<T>(_ body: (TaskStore) async throws -> T) async throws -> T {
    let directory = try StoreDirectory()
    let store = try directory.open()
    let result: T
    do {
        result = try await body(store)
    } catch {
        try store.close()
        throw error
    }
    try store.close()
    // The tables kept by differences agree with the tasks after every test.
    try TaskStore.check(at: directory.database, thoroughly: true)
    return result
}

func specification(
    _ host: String = "example.com", path: String = "/file", owner: UInt32 = 1000, priority: Priority = .normal,
    group: String? = nil, label: String? = nil, clientKey: String? = nil
) -> TaskSpecification {
    TaskSpecification(
        owner: Owner(uid: owner),
        request: TransferRequest(url: HTTPURL(scheme: .https, host: host, port: 443, target: path)),
        destination: Destination(directory: "/srv/downloads"), priority: priority, group: group, label: label,
        clientKey: clientKey)
}

let noon = Timestamp(seconds: 1_767_268_800)

extension StoreTransaction {
    /// Adds tasks for a host, queued.
    @discardableResult
    func add(_ count: Int, to host: String = "example.com", priority: Priority = .normal) throws -> [TaskID] {
        try (0..<count).map { _ in
            try tasks.insert(specification(host, priority: priority), state: .queued, at: noon).id
        }
    }

    func setState(_ state: TaskState, of id: TaskID, finishedAt: Timestamp? = nil) throws {
        guard var task = try tasks.find(id) else { throw StoreError.noSuchTask(id) }
        task.state = state
        task.finishedAt = finishedAt
        try tasks.update(task)
    }
}

/// A list that several threads append to.
final class Collected<Element: Sendable>: Sendable {
    private let elements = Locked<[Element]>([])
    var all: [Element] { elements.withLock { $0 } }
    func append(_ element: Element) { elements.withLock { $0.append(element) } }
    func append(contentsOf more: [Element]) { elements.withLock { $0 += more } }
}
