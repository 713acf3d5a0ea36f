import Testing
import XferModel
import XferTestSupport

@testable import XferStore

/// Trust policies and the tasks that name them.
struct PolicyTests {
    @Test func aPolicyIsReadBackWithItsVersion() async throws {
        try await withStore { store in
            var policy = TrustPolicy.fixture("bank")
            policy.expiresAt = noon
            policy.clientCertificate = ClientCertificateFiles(certificate: "/etc/c.pem", key: "/etc/k.pem")
            let written = try await store.write { [policy] in try $0.policies.set(policy, isConfigured: false) }
            #expect(written.version == 1)
            policy.version = 1
            #expect(written == policy)
            let read = try await store.read { try $0.policies.find(named: "bank") }
            #expect(read == StoredPolicy(policy: policy, isConfigured: false))
            let other = try await store.read { try $0.policies.find(named: "other") }
            #expect(other == nil)
        }
    }

    @Test func aDamagedPolicyIsNamedAndDoesNotHideTheOthers() async throws {
        try await withStore { store in
            for name in ["a", "b"] {
                _ = try await store.write { try $0.policies.set(.fixture(name), isConfigured: name == "a") }
            }
            try await store.write { tx in
                try tx.connection.run("UPDATE policy SET policy = '{bad' WHERE name = 'a'")
            }
            #expect(try await store.read { try $0.policies.all() }.map(\.policy.name) == ["b"])
            let damaged = try await store.read { try $0.policies.damaged() }
            #expect(damaged == [DamagedRow(table: .policy, name: "a", id: 1, isConfigured: true)])
            #expect(try await store.read { try $0.policies.exists(named: "a") && !$0.policies.exists(named: "c") })
            await #expect(throws: StoreError.unreadable(table: "policy", id: 1, column: "policy")) {
                try await store.read { try $0.policies.find(named: "a") }
            }
            try await store.write { try $0.policies.remove(named: "a") }
        }
    }

    @Test func noPolicyVersionIsGivenTwiceEvenAfterARemoval() async throws {
        let directory = try StoreDirectory()
        let store = try directory.open()
        let first = try await store.write { try $0.policies.set(.fixture("a"), isConfigured: false).version }
        let second = try await store.write { try $0.policies.set(.fixture("a"), isConfigured: false).version }
        try await store.write { try $0.policies.remove(named: "a") }
        try store.close()
        let again = try directory.open()
        #expect(try await again.read { try $0.policies.all() }.isEmpty)
        let third = try await again.write { try $0.policies.set(.fixture("a"), isConfigured: true).version }
        #expect(first < second && second < third)
        try again.close()
    }

    @Test func aNewPolicyVersionForgetsTheWarningsOfAnEarlierOne() async throws {
        try await withStore { store in
            let version = try await store.write { try $0.policies.set(.fixture("a"), isConfigured: false).version }
            try await store.write { try $0.policies.setWarned(7, ofPolicyVersion: version) }
            let warned = try await store.read { try $0.policies.find(named: "a") }
            #expect(warned?.warned == 7)
            _ = try await store.write { try $0.policies.set(.fixture("a"), isConfigured: false) }
            let anew = try await store.read { try $0.policies.find(named: "a") }
            #expect(anew != nil && anew?.warned == nil)
        }
    }

    @Test func onlyUnfinishedTasksThatNameAPolicyAreFound() async throws {
        try await withStore { store in
            var named = specification("a.example")
            named.policy = "bank"
            let ids = try await store.write { [named] tx in
                let first = try tx.tasks.insert(named, state: .queued, at: noon)
                var second = try tx.tasks.insert(named, state: .queued, at: noon)
                second.state = .completed
                second.finishedAt = noon
                try tx.tasks.update(second)
                let third = try tx.tasks.insert(specification("b.example"), state: .queued, at: noon)
                return [first.id, second.id, third.id]
            }
            #expect(
                try await store.read { try $0.policies.unfinishedTasks(namingPolicy: "bank", limit: 9) } == [ids[0]])
            let before = try await store.read { try $0.tasks.find(ids[0]) }
            #expect(before?.specification.policy == "bank")
            try await store.write { tx in
                var task = try #require(try tx.tasks.find(ids[0]))
                task.specification.policy = nil
                try tx.tasks.update(task)
            }
            #expect(try await store.read { try $0.policies.unfinishedTasks(namingPolicy: "bank", limit: 9) } == [])
            let after = try await store.read { try $0.tasks.find(ids[0]) }
            #expect(after != nil && after?.specification.policy == nil)
        }
    }

    @Test func anAddWithAnotherPolicyIsNotARepeatedAdd() async throws {
        try await withStore { store in
            var asked = specification(clientKey: "key")
            asked.policy = "bank"
            try await store.write { [asked] in _ = try $0.tasks.insert(asked, state: .queued, at: noon) }
            let same = try await store.read { [asked] in try $0.tasks.earlierAdd(of: asked) }
            #expect(same?.isSameRequest == true)
            asked.policy = nil
            let other = try await store.read { [asked] in try $0.tasks.earlierAdd(of: asked) }
            #expect(other?.isSameRequest == false)
        }
    }

    @Test func theSendersOfKeptBytesAreStoredWithThem() async throws {
        try await withStore { store in
            let origin = Origin(scheme: .https, host: "[::1]", port: 8443)
            let sources = [
                SourceEvidence(origin: origin, chain: [[1, 2, 3], [255]], tls: .tls12, judgement: "3+5x"),
                SourceEvidence(
                    origin: Origin(scheme: .http, host: "a.test", port: 80), chain: [], tls: nil, judgement: "0"),
            ]
            let place = PartialLocation(directory: "/d", identity: .unknown)
            let id = try await store.write { try $0.transfers.insert(partial: place, at: noon).id }
            #expect(try await store.read { try $0.transfers.find(id)?.sources } == [])
            try await store.write { try $0.transfers.setSources(sources, of: id) }
            #expect(try await store.read { try $0.transfers.find(id)?.sources } == sources)
            try await store.write { try $0.transfers.setSources([sources[0]], of: id) }
            #expect(try await store.read { try $0.transfers.find(id)?.sources } == [sources[0]])
            try await store.write { try $0.transfers.delete(id) }
            await #expect(throws: StoreError.noSuchTransfer(id)) {
                try await store.write { try $0.transfers.setSources(sources, of: id) }
            }
        }
    }
}

extension TrustPolicy {
    /// A policy as an operator might write it.
    static func fixture(_ name: String) -> TrustPolicy {
        let pin = KeyPin(digest: [UInt8](repeating: 7, count: 32)).map { Pin.key($0) }
        let hosts = (try? HostPattern(".example.com")).map { [$0] } ?? []
        return TrustPolicy(name: name, mode: .publicKey, pins: pin.map { [$0] } ?? [], hosts: hosts)
    }
}
