import Testing
import XferModel
import XferTestSupport

@testable import XferManager

/// Admission checks every source like the first one, and a source's secrets and cached bytes stay its own.
@Suite struct MirrorAdmissionTests {
    private typealias Mirrors = MirrorFixture

    private func refusal(
        _ mirrors: [String], of fixture: ManagerFixture, _ manager: TransferManager,
        request: RequestFields = RequestFields()
    ) async throws -> ManagerError? {
        let directory = fixture.downloads
        let draft = TaskDraft(url: "http://127.0.0.1:1/a", mirrors: mirrors, request: request) { request in
            TaskSpecification(
                owner: ManagerFixture.caller.owner, request: request, destination: Destination(directory: directory),
                startsPaused: true)
        }
        do {
            _ = try await manager.tasks.add([draft], for: ManagerFixture.caller, path: { _ in "tasks[3]." })
            return nil
        } catch let error as ManagerError {
            return error
        }
    }

    @Test func aFaultyMirrorIsNamed() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open(change: { settings in
            settings.admission = AdmissionLists(deniedHosts: (try? [HostPattern("127.0.0.9")]) ?? [])
        })
        func path(_ mirrors: String..., request: RequestFields = RequestFields()) async throws -> String? {
            switch try await refusal(mirrors, of: fixture, manager, request: request) {
            case .invalidField(let path, _, _), .rejectedByPolicy(let path, _): path
            default: nil
            }
        }
        #expect(try await path("http://127.0.0.1:2/a", "http://127.0.0.9/a") == "tasks[3].urls[2]")
        #expect(try await path("http://127.0.0.1:2/a", "ftp://127.0.0.1/a") == "tasks[3].urls[2]")
        #expect(try await path("http://u:p@127.0.0.1:2/a") == "tasks[3].urls[1]")
        #expect(try await path("http://127.0.0.1:2/a", "http://127.0.0.1:1/b/../a") == "tasks[3].urls[2]")
        #expect(try await path("http://127.0.0.1:2/a", request: RequestFields(kind: .upload)) == "tasks[3].urls")
        #expect(try await path("http://127.0.0.1:2/a") == nil)
        let many = (2...17).map { "http://127.0.0.1:\($0)/a" }
        #expect(try await refusal(many, of: fixture, manager) != nil)
        #expect(try await refusal(Array(many.dropLast()), of: fixture, manager) == nil)
        await manager.shutdown(.suspend)
    }

    @Test func queryParametersAreSentToEveryMirror() async throws {
        let mirrors = try await Mirrors()
        mirrors.serve(0).always(.status(404))
        mirrors.serve(1)
        let manager = try await mirrors.open()
        var request = RequestFields()
        request.parameters = [Parameter("a", .text("b"))]
        let id = try await mirrors.add(to: manager, request: request)
        #expect(try await mirrors.end(of: id, in: manager).state == .completed)
        #expect(mirrors.servers.map { $0.requests.first?.target } == ["/f?a=b", "/f?a=b"])
        await manager.shutdown(.suspend)
    }

    /// Each server here is an origin of its own.
    @Test func secretsAreSentOnlyToTheirOrigin() async throws {
        let mirrors = try await Mirrors()
        mirrors.serve(0).always(.status(404))
        mirrors.serve(1)
        let manager = try await mirrors.open()
        let id = try await mirrors.add(to: manager) {
            $0.request.headers = [
                HeaderField(name: "Cookie", value: "secret"), HeaderField(name: "X-Api-Key", value: "secret"),
                HeaderField(name: "X-Plain", value: "open"),
            ]
            $0.request.headerRules = [HeaderRule(set: [HeaderField(name: "X-Token", value: "secret")])]
            $0.request.credential = Credential(user: "u", password: "secret")
        }
        #expect(try await mirrors.end(of: id, in: manager).state == .completed)
        let (first, second) = (mirrors.servers[0].requests[0], mirrors.servers[1].requests[0])
        #expect(["Cookie", "X-Api-Key", "X-Token", "Authorization"].allSatisfy { first.header($0) != nil })
        #expect(["Cookie", "X-Api-Key", "X-Token", "Authorization"].allSatisfy { second.header($0) == nil })
        #expect(second.header("X-Plain") == "open")
        await manager.shutdown(.suspend)
    }

    @Test func aCredentialIsSentToItsDeclaredOrigins() async throws {
        let mirrors = try await Mirrors()
        mirrors.serve(0).always(.status(404))
        mirrors.serve(1)
        let origins = mirrors.servers.map { Origin(scheme: .http, host: "127.0.0.1", port: UInt16($0.port)) }
        let manager = try await mirrors.open()
        let id = try await mirrors.add(to: manager) {
            $0.request.credential = Credential(user: "u", secret: .value("p"), origins: [origins[1]])
        }
        #expect(try await mirrors.end(of: id, in: manager).state == .completed)
        #expect(mirrors.servers[0].requests[0].header("Authorization") == nil)
        #expect(mirrors.servers[1].requests[0].header("Authorization") != nil)
        await manager.shutdown(.suspend)
    }

    /// The same sources in the same order, and the same digest.
    @Test func tasksShareOnlyIfMirrorsAndDigestAreEqual() async throws {
        let mirrors = try await Mirrors()
        let gate = Gate()
        for index in 0...1 { mirrors.serve(index).always(.stall(at: Mirrors.cut, until: gate)) }
        let manager = try await mirrors.open { $0.maxActive = 10 }
        var ids: [TaskID] = []
        ids.append(try await mirrors.add(to: manager, as: "a"))
        ids.append(try await mirrors.add(to: manager, as: "b"))
        ids.append(try await mirrors.add(to: manager, as: "c", order: [1, 0]))
        ids.append(try await mirrors.add(to: manager, as: "d", order: [0]))
        ids.append(try await mirrors.add(to: manager, as: "e") { $0.checksum = MirrorFixture.checksum })
        let all = ids
        try await eventually("bytes have come") {
            let progress = await manager.queries.progress(of: all)
            return progress.count == all.count && progress.values.allSatisfy { $0.received >= Mirrors.cut }
        }
        #expect(mirrors.servers.map(\.requests.count) == [3, 1])
        gate.open()
        for id in ids { #expect(try await mirrors.end(of: id, in: manager).state == .completed) }
        #expect(mirrors.servers.map(\.requests.count) == [3, 1])
        await manager.shutdown(.suspend)
    }

    /// Otherwise a client could cache a mirror's bytes under another server's URL.
    @Test func bytesOfAMirrorAreNotCachedForTheFirstURL() async throws {
        let mirrors = try await Mirrors()
        mirrors.serve(0, faults: [[.status(503)]])
        mirrors.serve(1, Mirrors.version(tag: "\"m1\"", seed: 2))
        let manager = try await mirrors.open()
        @Sendable func change(_ specification: inout TaskSpecification) {
            specification.request.caching = CachingOptions(policy: .preferCache, stores: true)
        }
        let first = try await mirrors.add(to: manager, as: "a") { change(&$0) }
        #expect(try await mirrors.end(of: first, in: manager).outcome.etag == "\"m1\"")
        let second = try await mirrors.add(to: manager, as: "b", order: [0]) { change(&$0) }
        #expect(try await mirrors.end(of: second, in: manager).outcome.etag == "\"m0\"")
        #expect(try mirrors.holds(Mirrors.version(tag: nil), "b"))
        await manager.shutdown(.suspend)
    }
}
