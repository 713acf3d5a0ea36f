import Glibc
import Testing
import XferCore
import XferModel
import XferStore
import XferTestSupport

@testable import XferManager

/// Credentials in running tasks: read at each attempt, from the task's or the profile's word.
@Suite struct CredentialRunTests {
    private let version = SourceVersion.tagged(70, length: 2000)

    private func serve(_ server: FaultServer, wanting field: String) {
        server.onAnyOther { [version] request in
            request.header("Authorization") == field ? version.honestReply(to: request) : .unauthorized
        }
    }

    private func setProfile(
        _ manager: TransferManager, _ change: @escaping @Sendable (inout Profile) -> Void
    ) async throws {
        try await manager.store.write { tx in
            var profile = Profile(name: "work")
            change(&profile)
            try tx.profiles.set(profile, isConfigured: false)
        }
    }

    @Test func aMissingSecretFileFailsTheTaskUntilItIsBackAndTheTaskRetried() async throws {
        let fixture = try await ManagerFixture()
        serve(fixture.server, wanting: "Bearer t0ken")
        let path = fixture.directory.file("token")
        let manager = try await fixture.open()
        try await manager.start()
        let id = try await fixture.add("/a", as: "a", to: manager) {
            $0.request.credential = Credential(scheme: .bearer, user: "", secret: .file(path))
        }
        let failed = try await fixture.end(of: id, in: manager)
        #expect(failed.state == .failed && failed.error?.reason == .credentialMissing)
        #expect(failed.error?.message.contains(path) == true && fixture.server.requests.isEmpty)
        try FileTree.write("t0ken\n", to: path, mode: 0o600)
        _ = try await manager.tasks.apply(.retry, to: [id], for: ManagerFixture.caller)
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        await manager.shutdown(.suspend)
    }

    @Test func aSecretIsReadAtEachAttempt() async throws {
        let fixture = try await ManagerFixture()
        let path = fixture.directory.file("token")
        try FileTree.write("first", to: path, mode: 0o600)
        fixture.server.onAnyOther { [version] request in
            guard request.header("Authorization") == "Bearer second" else {
                try? FileTree.write("second", to: path, mode: 0o600)
                return Reply(503, headers: [HeaderField(name: "Retry-After", value: "0")], text: "")
            }
            return version.honestReply(to: request)
        }
        let manager = try await fixture.open()
        try await manager.start()
        let id = try await fixture.add("/a", as: "a", to: manager) {
            $0.request.credential = Credential(scheme: .bearer, user: "", secret: .file(path))
        }
        try await eventually("it waits or ends") {
            try await manager.queries.task(id, for: ManagerFixture.caller).state != .running
        }
        _ = try await manager.tasks.apply(.resume, to: [id], for: ManagerFixture.caller)
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        #expect(fixture.server.requests.map { $0.header("Authorization") } == ["Bearer first", "Bearer second"])
        await manager.shutdown(.suspend)
    }

    @Test func aProfilesCredentialIsSentToItsOriginsOnly() async throws {
        let fixture = try await ManagerFixture()
        let other = try await FaultServer()
        serve(fixture.server, wanting: "Basic bWU6cHc=")
        other.onAnyOther { [version] in version.honestReply(to: $0) }
        let manager = try await fixture.open()
        try await manager.start()
        let home = HTTPURL(scheme: .http, host: "127.0.0.1", port: UInt16(fixture.server.port), target: "/")
        func run(_ name: String, url: String? = nil) async throws -> TransferTask {
            let id = try await fixture.add("/a", as: name, to: manager, url: url) {
                $0.profile = "work"
                $0.request.usesProfileCredential = true
            }
            return try await fixture.end(of: id, in: manager)
        }
        #expect(try await run("none").error?.reason == .credentialMissing, "there is no such profile")
        try await setProfile(manager) { $0.credential = Credential(user: "me", password: "pw") }
        let unbound = try await run("unbound")
        #expect(unbound.error?.reason == .credentialMissing)
        #expect(unbound.error?.message.contains("cannot be sent") == true)
        try await setProfile(manager) { profile in
            profile.credential = Credential(user: "me", password: "pw")
            profile.baseURL = home
        }
        #expect(try await run("home").state == .completed)
        #expect(try await run("away", url: other.url("/a")).state == .completed)
        #expect(other.requests.allSatisfy { $0.header("Authorization") == nil } && !other.requests.isEmpty)
        try await manager.store.write { tx in try tx.profiles.remove(named: "work") }
        #expect(try await run("gone").error?.reason == .credentialMissing)
        await manager.shutdown(.suspend)
    }

    @Test func onlyATasksOwnNetrcFileServesOtherHostsThatItNames() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        let text = "machine login.test login me password s3cret"
        let netrc = Credential(scheme: .netrc, user: "", secret: .value(text))
        let home = HTTPURL(scheme: .https, host: "data.test", port: 443, target: "/")
        try await setProfile(manager) { profile in
            profile.credential = netrc
            profile.baseURL = home
        }
        let access = manager.services.access
        func resolve(_ change: (inout TransferRequest) -> Void) async throws -> Bool? {
            var request = TransferRequest(url: home)
            change(&request)
            return try await access.resolve(request, profile: "work")?.servesNamedHosts
        }
        let own = try await resolve { $0.credential = netrc }
        #expect(own == true)
        let profiles = try await resolve { $0.usesProfileCredential = true }
        #expect(profiles == false)
        var bound = netrc
        bound.origins = [home.origin]
        let stated = try await resolve { $0.credential = bound }
        #expect(stated == false)
        await manager.shutdown(.suspend)
    }

    @Test func theTasksOwnCredentialWinsOverTheProfiles() async throws {
        let fixture = try await ManagerFixture()
        serve(fixture.server, wanting: "Bearer mine")
        let manager = try await fixture.open()
        try await manager.start()
        try await setProfile(manager) { profile in
            profile.credential = Credential(scheme: .bearer, user: "", secret: .environment("UNSET"))
        }
        let id = try await fixture.add("/a", as: "a", to: manager) {
            $0.profile = "work"
            $0.request.usesProfileCredential = true
            $0.request.credential = Credential(scheme: .bearer, user: "", secret: .value("mine"))
        }
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        await manager.shutdown(.suspend)
    }

    @Test func aMissingClientCertificateFailsTheTask() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        try await manager.start()
        let files = ClientCertificateFiles(certificate: "/nowhere/c.pem", key: "/nowhere/k.pem")
        let id = try await fixture.add("/a", as: "a", to: manager) { $0.request.clientCertificate = files }
        #expect(try await fixture.end(of: id, in: manager).error?.reason == .credentialMissing)
        await manager.shutdown(.suspend)
    }

    @Test func usersWithoutOperatorRightsNameNoSecretsThatTheServiceReads() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        let stranger = Principal(owner: Owner(uid: 4711), isOperator: false, roots: [fixture.directory.path])
        func refused(_ path: String, _ change: @escaping @Sendable (inout TransferRequest) -> Void) async {
            do {
                _ = try await fixture.add("/a", as: "a", to: manager, for: stranger) { change(&$0.request) }
                Issue.record("\(path) was taken")
            } catch {
                guard case ManagerError.permissionDenied(let field, _) = error else {
                    Issue.record("\(path): \(error)")
                    return
                }
                #expect(field == path)
            }
        }
        for secret in [Secret.file("/etc/shadow"), .environment("HOME"), .systemdCredential("x")] {
            await refused("credential") { $0.credential = Credential(user: "a", secret: secret) }
            await refused("proxy") {
                $0.proxy = ProxySettings(url: "http://127.0.0.1:1", credential: Credential(user: "a", secret: secret))
            }
        }
        await refused("client_cert") { $0.clientCertificate = ClientCertificateFiles(certificate: "/a", key: "/b") }
        // A profile's proxy is its operator's word.
        let proxy = ProxySettings(
            url: "http://127.0.0.1:1", credential: Credential(user: "a", secret: .environment("PROXY")))
        try await setProfile(manager) { $0.proxy = proxy }
        _ = try await fixture.add("/a", as: "a", to: manager, startsPaused: true, for: stranger) {
            $0.profile = "work"
            $0.request.proxy = proxy
        }
        await manager.shutdown(.suspend)
    }
}
