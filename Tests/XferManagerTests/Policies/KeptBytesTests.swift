import Glibc
import NIOConcurrencyHelpers
import Testing
import XferFiles
import XferModel
import XferStore
import XferSystem
import XferTestSupport

@testable import XferManager

/// Bytes are published only while the policies in force trust the server that sent them, however complete they are.
@Suite struct KeptBytesTests {
    private static let version = SourceVersion.tagged(9, length: 200_000)

    private let fixture: ManagerFixture
    private let authority: TestCA
    private let leaf: TestCertificate
    private let server: TLSServer

    init() async throws {
        fixture = try await ManagerFixture()
        authority = try TestCA()
        leaf = try authority.issue()
        try FileTree.write(authority.pem, to: fixture.directory.file("ca.pem"))
        server = try Self.serve(leaf, backend: fixture.server)
    }

    private static func serve(_ leaf: TestCertificate, backend: FaultServer, port: Int = 0) throws -> TLSServer {
        var options = TLSServer.Options(chain: leaf.certificate, privateKey: leaf.privateKey)
        options.backend = backend.port
        options.port = port
        return try TLSServer(options)
    }

    private func reopen() async throws -> TransferManager {
        let caFile = fixture.directory.file("ca.pem")
        return try await fixture.open(change: { $0.authoritiesFile = caFile })
    }

    private func open() async throws -> TransferManager {
        let manager = try await reopen()
        try await manager.start()
        return manager
    }

    private func pinning(_ pins: String...) throws -> TrustPolicy {
        TrustPolicy(
            name: "bank", mode: .publicKey, pins: try pins.map { .key(try KeyPin($0)) },
            hosts: [try HostPattern("localhost:\(server.port)")])
    }

    private var lax: TrustPolicy {
        get throws {
            TrustPolicy(
                name: "bank", allowsInvalidCertificates: true, validatesDomainName: false,
                hosts: [try HostPattern("localhost:\(server.port)")])
        }
    }

    private static let foreign = "sha256/BwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwcHBwc="

    private func add(to manager: TransferManager) async throws -> TaskID {
        try await fixture.add(url: "https://localhost:\(server.port)/a", as: "a", to: manager)
    }

    @Test(arguments: [false, true])
    func aWholeBodyIsNotPublishedUnderAReplacedPolicy(isStillBelieved: Bool) async throws {
        let gate = Gate()
        fixture.server.serve("/a", Self.version, faults: [[.stall(at: 100_000, until: gate)]])
        let manager = try await open()
        _ = try await manager.policies.set(try pinning(leaf.keyPin))
        let id = try await add(to: manager)
        try await eventually("half of it is there") {
            await manager.queries.progress(of: [id])[id]?.received ?? 0 >= 100_000
        }
        let disk = ThreadGate()
        // The threads that make files durable.
        let pool = try fixture.filePool(of: manager)
        Task { await disk.hold(pool) }
        await disk.arrived(4)
        gate.open()
        try await eventually("the body is over") {
            await manager.queries.progress(of: [id])[id].map { [.verifying, .publishing].contains($0.phase) } ?? false
        }
        // Every byte is here, and the run waits for nothing but the disk.
        let next = isStillBelieved ? try pinning(Self.foreign, leaf.keyPin) : try pinning(Self.foreign)
        let edit = Task { try await manager.policies.set(next) }
        try await eventually("it is asked to stop") {
            await manager.scheduler.runs[id]?.control.isStopRequested ?? true
        }
        disk.open()
        _ = try await edit.value
        let task = try await fixture.end(of: id, in: manager)
        await manager.shutdown(.drain)
        if isStillBelieved {
            #expect(task.state == .completed)
            #expect(try Self.version.equals(file: "\(fixture.downloads)/a"))
            // They came from a key that is pinned still: nothing is fetched again.
            #expect(fixture.server.requests.count == 1)
        } else {
            #expect(task.state == .failed && task.error?.reason == .pinMismatch)
            #expect(try fixture.files() == [])
            #expect(fixture.server.requests.count == 1)
        }
    }

    /// Leaves a task that a killed daemon was about to publish, its bytes sent by a stranger that a lax policy let pass.
    private func interrupted(_ manager: TransferManager, by stranger: TestCertificate?, at version: Int64) async throws
        -> TaskID
    {
        let id = try await fixture.add(
            url: "https://localhost:\(server.port)/a", as: "a", to: manager, startsPaused: true)
        let downloads = fixture.downloads
        let directory = try DirectoryHandle(ofService: downloads)
        let identity = directory.identity
        let transfer = try await manager.store.write { tx in
            try tx.transfers.insert(
                partial: PartialLocation(directory: downloads, identity: identity), at: Clocks.wall())
        }
        try FileTree.write(
            SourceVersion.tagged(6, length: 200_000).bytes, to: "\(downloads)/\(transfer.partialName)", mode: 0o600)
        let part = try #require(try directory.facts(of: transfer.partialName))
        let origin = Origin(scheme: .https, host: "localhost", port: UInt16(server.port))
        try await manager.store.write { tx in
            guard var task = try tx.tasks.find(id) else { return }
            task.state = .running
            task.transferID = transfer.id
            task.received = 200_000
            task.total = 200_000
            try tx.tasks.update(task)
            var data = ResumeData()
            data.validators.etag = Self.version.etag
            data.totalLength = 200_000
            data.segments = [Segment(start: 0, committed: 200_000)]
            try tx.transfers.update(resumeData: data, of: transfer.id)
            try tx.transfers.setPublishIntent(PublishIntent(finalName: "a", part: part), of: transfer.id)
            guard let stranger else { return }
            let source = SourceEvidence(origin: origin, chain: [stranger.der], tls: .tls13, judgement: "\(version)")
            try tx.transfers.setSources([source], of: transfer.id)
        }
        await manager.shutdown(.suspend)
        return id
    }

    @Test(arguments: [true, false])
    func wholeBytesOfAnEarlierRunAreJudgedBeforePublishing(isRecorded: Bool) async throws {
        fixture.server.serve("/a", Self.version)
        var manager = try await open()
        let version = try await manager.policies.set(try lax).policy.version
        let id = try await interrupted(manager, by: isRecorded ? try TestCA.selfSigned() : nil, at: version)
        manager = try await reopen()
        _ = try await manager.policies.set(try pinning(leaf.keyPin))
        try await manager.start()
        let task = try await fixture.end(of: id, in: manager)
        await manager.shutdown(.drain)
        #expect(task.state == .completed)
        // What the stranger sent is gone; this is the pinned server's.
        #expect(try Self.version.equals(file: "\(fixture.downloads)/a"))
        #expect(fixture.server.requests.map { $0.header("Range") } == [nil])
    }

    @Test func bytesOfAnUntrustedServerAreNeverContinued() async throws {
        let honest = try await FaultServer()
        honest.serve("/a", Self.version)
        // The same length and the same tag, as an attacker in between would choose them.
        var forged = SourceVersion.tagged(6, length: 200_000)
        forged.etag = Self.version.etag
        fixture.server.serve("/a", forged, faults: [[.hang(after: 100_000)]])
        server.stop()
        let stranger = try TestCA.selfSigned()
        var front = try await eventually("the port is free") {
            try? Self.serve(stranger, backend: fixture.server, port: server.port)
        }
        var manager = try await open()
        _ = try await manager.policies.set(try lax)
        let id = try await add(to: manager)
        try await eventually("half of it is there") {
            await manager.queries.progress(of: [id])[id]?.received ?? 0 >= 100_000
        }
        await manager.shutdown(.suspend)
        front.stop()
        front = try await eventually("the port is free") {
            try? Self.serve(leaf, backend: honest, port: server.port)
        }
        manager = try await reopen()
        let kept = try await manager.store.read { reader in
            try reader.tasks.find(id)?.transferID.flatMap { try reader.transfers.find($0) }
        }
        #expect(kept?.resumeData.committedByteCount == 100_000)
        #expect(kept?.sources.map(\.chain) == [[stranger.der]])
        _ = try await manager.policies.set(try pinning(leaf.keyPin))
        try await manager.start()
        let task = try await fixture.end(of: id, in: manager)
        await manager.shutdown(.drain)
        #expect(task.state == .completed)
        #expect(try Self.version.equals(file: "\(fixture.downloads)/a"))
        #expect(honest.requests.map { $0.header("Range") } == [nil])
    }

    @Test func bytesOfTheSameServerAreContinuedUnderANewPolicy() async throws {
        fixture.server.serve("/a", Self.version, faults: [[.hang(after: 100_000)]])
        let manager = try await open()
        // Under the built-in default first: what the server showed is remembered when the run ends.
        let id = try await add(to: manager)
        try await eventually("half of it is there") {
            await manager.queries.progress(of: [id])[id]?.received ?? 0 >= 100_000
        }
        _ = try await manager.policies.set(try pinning(leaf.keyPin))
        let task = try await fixture.end(of: id, in: manager)
        await manager.shutdown(.drain)
        #expect(task.state == .completed)
        #expect(try Self.version.equals(file: "\(fixture.downloads)/a"))
        #expect(fixture.server.requests.map { $0.header("Range") } == [nil, "bytes=100000-"])
    }

    @Test func bytesThatOnlyALaxPolicyAcceptedAreDiscardedWithIt() async throws {
        server.stop()
        fixture.server.serve("/a", Self.version, faults: [[.hang(after: 100_000)]])
        let front = try await eventually("the port is free") {
            try? Self.serve(TestCA.selfSigned(), backend: fixture.server, port: server.port)
        }
        let manager = try await open()
        var policy = try lax
        // Long enough for half of the body to come before, on a busy machine too.
        policy.expiresAt = Clocks.wall().advanced(by: Patience.seconds(15))
        _ = try await manager.policies.set(policy)
        // The silence lasts until the policy's end and does not end the attempt by itself.
        let id = try await fixture.add(url: "https://localhost:\(server.port)/a", as: "a", to: manager) {
            $0.request.timeouts.idle = 3600
        }
        try await eventually("half of it is there") {
            await manager.queries.progress(of: [id])[id]?.received ?? 0 >= 100_000
        }
        // No client edits the policy: it expires while the body is on the way.
        let task = try await fixture.end(of: id, in: manager)
        await manager.shutdown(.drain)
        #expect(task.state == .failed && task.error?.reason == .trustRejected)
        #expect(fixture.server.requests.count == 1)
        #expect(front.counts.connections == 2)
    }

    @Test func aTaskWhosePolicyWasRemovedFailsAndKeepsItsBytes() async throws {
        fixture.server.serve("/a", Self.version, faults: [[.hang(after: 100_000)]])
        let (caFile, bank) = (fixture.directory.file("ca.pem"), try pinning(leaf.keyPin))
        let manager = try await fixture.open(change: { settings in
            settings.authoritiesFile = caFile
            settings.policies = [bank]
        })
        try await manager.start()
        let directory = fixture.downloads
        let draft = TaskDraft(url: "https://localhost:\(server.port)/a") { request in
            TaskSpecification(
                owner: ManagerFixture.caller.owner, request: request,
                destination: Destination(directory: directory, name: "a"), policy: "bank")
        }
        let id = try await manager.tasks.add([draft], for: ManagerFixture.caller)[0].id
        try await eventually("half of it is there") {
            await manager.queries.progress(of: [id])[id]?.received ?? 0 >= 100_000
        }
        var settings = manager.settings
        settings.policies = []
        try await manager.reload(settings)
        let task = try await fixture.end(of: id, in: manager)
        #expect(task.state == .failed && task.error?.reason == .policyMissing)
        #expect(task.received == 100_000)
        // The policy is back; the server was reachable all the time.
        settings.policies = [bank]
        try await manager.reload(settings)
        _ = try await manager.tasks.apply(.retry, to: [id], for: ManagerFixture.caller)
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        await manager.shutdown(.drain)
        #expect(try Self.version.equals(file: "\(fixture.downloads)/a"))
        #expect(fixture.server.requests.map { $0.header("Range") } == [nil, "bytes=100000-"])
    }

    @Test func aStopRequestPreventsPublishingOrWaitsForIt() {
        let control = RunControl(kind: .download)
        #expect(control.beginPublishing() && control.isPublishing)
        _ = control.requestStop()
        // Another name is tried: it goes on.
        #expect(control.beginPublishing())
        let stopped = RunControl(kind: .download)
        _ = stopped.requestStop()
        #expect(!stopped.beginPublishing() && !stopped.isPublishing)
    }
}
