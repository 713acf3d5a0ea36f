import XferModel
import XferTestSupport

@testable import XferManager

/// A manager, and servers that offer the same file, or pretend to.
struct MirrorFixture {
    let fixture: ManagerFixture
    /// In order of preference.
    let servers: [FaultServer]

    static let length: Int64 = 300_000
    static let cut: Int64 = 100_000

    init(_ count: Int = 2) async throws {
        fixture = try await ManagerFixture()
        var servers = [fixture.server]
        for _ in 1..<count { servers.append(try await FaultServer()) }
        self.servers = servers
    }

    /// What is right, with a tag of the mirror's own.
    static func version(tag: String?, seed: UInt64 = 1, length: Int64 = length) -> SourceVersion {
        SourceVersion(seed: seed, length: length, etag: tag)
    }

    static var checksum: Checksum { version(tag: nil).checksum() }

    /// Serves the right bytes under a tag of each one's own, unless told otherwise.
    @discardableResult
    func serve(_ index: Int, _ version: SourceVersion? = nil, faults: [[Fault]] = []) -> ServedSource {
        servers[index].serve("/f", version ?? Self.version(tag: "\"m\(index)\""), faults: faults)
    }

    func open(change: (inout ManagerSettings) -> Void = { _ in }) async throws -> TransferManager {
        let manager = try await fixture.open(change: change)
        try await manager.start()
        return manager
    }

    func add(
        to manager: TransferManager, as name: String = "f", order: [Int]? = nil,
        request: RequestFields = RequestFields(),
        _ change: @escaping @Sendable (inout TaskSpecification) -> Void = { _ in }
    ) async throws -> TaskID {
        let urls = (order ?? Array(servers.indices)).map { servers[$0].url("/f") }
        let directory = fixture.downloads
        let draft = TaskDraft(url: urls[0], mirrors: Array(urls.dropFirst()), request: request) { request in
            var specification = TaskSpecification(
                owner: ManagerFixture.caller.owner, request: request,
                destination: Destination(directory: directory, name: name))
            change(&specification)
            return specification
        }
        return try await manager.tasks.add([draft], for: ManagerFixture.caller)[0].id
    }

    func end(of id: TaskID, in manager: TransferManager) async throws -> TransferTask {
        try await fixture.end(of: id, in: manager)
    }

    func holds(_ version: SourceVersion, _ name: String = "f") throws -> Bool {
        try version.equals(file: "\(fixture.downloads)/\(name)")
    }

    /// `Range` of each request to a server.
    func ranges(_ index: Int) -> [String?] { servers[index].requests.map { $0.header("Range") } }

    func changes(of id: TaskID, in manager: TransferManager) async throws -> Int {
        try await fixture.events(of: id, in: manager).filter { $0 == .taskSourceChanged }.count
    }

    func discards(of id: TaskID, in manager: TransferManager) async throws -> Int {
        try await fixture.events(of: id, in: manager).filter { $0 == .taskBytesDiscarded }.count
    }
}
