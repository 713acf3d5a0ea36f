import Glibc
import Testing
import XferModel
import XferTestSupport

@testable import XferManager

/// What must not be loaded, when it is added and on the way.
@Suite struct AdmissionTests {
    private func lists(hosts: [String] = [], addresses: [String] = [], allow: [String] = []) throws -> AdmissionLists {
        AdmissionLists(
            deniedHosts: try hosts.map { try HostPattern($0) },
            deniedAddresses: try addresses.map { try #require(AddressBlock($0)) },
            allowedHosts: try allow.map { try HostPattern($0) })
    }

    @Test func theEnvironmentsProxiesAreUsedOnlyIfConfiguredSo() async throws {
        let fixture = try await ManagerFixture()
        fixture.server.onAnyOther { _ in Reply(200, text: "direct") }
        let proxy = try await FaultServer()
        proxy.onAnyOther { _ in Reply(200, text: "proxied!") }
        func run(_ isUsed: Bool, exceptions: String = "") async throws -> Int64 {
            let manager = try await fixture.open(change: { settings in
                settings.usesEnvironmentProxies = isUsed
                settings.environment = ["http_proxy": "http://127.0.0.1:\(proxy.port)", "no_proxy": exceptions]
            })
            try await manager.start()
            let name = "\(isUsed)\(exceptions.isEmpty)"
            let id = try await fixture.add("/a", as: name, to: manager)
            let task = try await fixture.end(of: id, in: manager)
            await manager.shutdown(.suspend)
            #expect(task.state == .completed)
            return task.received
        }
        #expect(try await run(false) == 6)
        #expect(try await run(true) == 8)
        #expect(try await run(true, exceptions: "127.0.0.0/8") == 6)
        #expect(proxy.requests.count == 1 && proxy.requests[0].target.hasPrefix("http://127.0.0.1:"))
    }

    /// Like `/dev/null`: a file `null (1)` beside it is never what the caller wanted.
    @Test(arguments: ConflictPolicy.allCases)
    func theNameOfAFIFOIsRefusedBeforeTheRequest(policy: ConflictPolicy) async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        #expect(mkfifo("\(fixture.downloads)/pipe", 0o600) == 0)
        let reason = "\"\(fixture.downloads)/pipe\" is a device, a socket or a pipe, which a file never replaces"
        await #expect(
            throws: ManagerError.invalidField(path: "output", reason: reason, expected: "the path of a file")
        ) {
            try await fixture.add("/a", as: "pipe", to: manager) { $0.destination.onConflict = policy }
        }
        #expect(fixture.server.requests.isEmpty)
        await manager.shutdown(.suspend)
    }

    @Test func aVariableThatNamesNoProxyIsNotPassedBy() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open(change: { settings in
            settings.usesEnvironmentProxies = true
            settings.environment = ["http_proxy": "gopher://x:1"]
        })
        try await manager.start()
        let id = try await fixture.add("/a", as: "a", to: manager)
        let task = try await fixture.end(of: id, in: manager)
        #expect(task.error?.reason == .connectFailed && task.error?.message.contains("http_proxy") == true)
        #expect(fixture.server.requests.isEmpty)
        await manager.shutdown(.suspend)
    }

    @Test func aTasksProxyServesTheHopsThatAreNotExcepted() async throws {
        let fixture = try await ManagerFixture()
        let proxy = try await FaultServer()
        let away = fixture.server.url("/end")
        proxy.onAnyOther { _ in .redirect(to: away) }
        fixture.server.onAnyOther { _ in Reply(200, text: "end") }
        let manager = try await fixture.open()
        try await manager.start()
        let settings = ProxySettings(url: "http://localhost:\(proxy.port)", exceptions: ["127.0.0.0/8"])
        let id = try await fixture.add("/", as: "a", to: manager, url: "http://far.test/start") {
            $0.request.proxy = settings
        }
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        #expect(proxy.requests.map(\.target) == ["http://far.test/start"])
        #expect(fixture.server.requests.map(\.target) == ["/end"])
        await manager.shutdown(.suspend)
    }

    @Test func changedAdmissionListsStopRunningTasks() async throws {
        let fixture = try await ManagerFixture()
        let gate = Gate()
        let version = SourceVersion.tagged(71, length: 400_000)
        fixture.server.on("/slow") { request in
            var reply = version.honestReply(to: request)
            reply.insert(.gate(gate), at: 100_000)
            return reply
        }
        let manager = try await fixture.open()
        try await manager.start()
        let id = try await fixture.add("/slow", as: "slow", to: manager)
        try await eventually("it runs") { fixture.server.requests.first?.sent ?? 0 >= 100_000 }
        var settings = manager.settings
        settings.admission = try lists(addresses: ["127.0.0.1"])
        try await manager.reload(settings)
        let task = try await fixture.end(of: id, in: manager)
        gate.open()
        #expect(task.state == .failed && task.error?.reason == .rejectedByPolicy, "\(task)")
        #expect(fixture.server.requests.count == 1)
        settings.admission = AdmissionLists()
        try await manager.reload(settings)
        _ = try await manager.tasks.apply(.retry, to: [id], for: ManagerFixture.caller)
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        await manager.shutdown(.suspend)
    }
}
