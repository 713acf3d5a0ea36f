import Testing
import XferModel
import XferStore
import XferTestSupport

@testable import XferManager

/// Cookies that outlive the service, and those that must not.
@Suite struct CookieJarsTests {
    private func setUp() async throws -> ManagerFixture {
        let fixture = try await ManagerFixture()
        fixture.server.on("/login") { request in
            Reply(
                200,
                headers: [
                    HeaderField(name: "Set-Cookie", value: "lasting=1; Max-Age=3600"),
                    HeaderField(name: "Set-Cookie", value: "session=2"),
                ], text: "hello")
        }
        fixture.server.on("/logout") { _ in
            Reply(200, headers: [HeaderField(name: "Set-Cookie", value: "lasting=; Max-Age=0")], text: "bye")
        }
        fixture.server.onAnyOther { _ in Reply(200, text: "hello") }
        return fixture
    }

    private func get(
        _ path: String, _ profile: String, of fixture: ManagerFixture, in manager: TransferManager, as name: String
    ) async throws -> String? {
        let id = try await fixture.add(path, as: name, to: manager) {
            $0.profile = profile
            $0.request.usesCookies = true
        }
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        return fixture.server.requests.last?.header("Cookie")
    }

    private func open(_ fixture: ManagerFixture) async throws -> TransferManager {
        let manager = try await fixture.open()
        try await manager.start()
        try await manager.store.write { tx in
            for name in ["one", "two"] { try tx.profiles.set(Profile(name: name), isConfigured: false) }
        }
        return manager
    }

    @Test func persistentCookiesSurviveARestartAndSessionCookiesDoNot() async throws {
        let fixture = try await setUp()
        var manager = try await open(fixture)
        #expect(try await get("/login", "one", of: fixture, in: manager, as: "a") == nil)
        // Stored before the task's end was published.
        let stored = try await manager.store.read { try $0.cookies.list(ofProfile: "one") }
        #expect(stored.map(\.name) == ["lasting"])
        let both = try await get("/x", "one", of: fixture, in: manager, as: "b")
        #expect(both == "lasting=1; session=2" || both == "session=2; lasting=1")
        #expect(try await get("/x", "two", of: fixture, in: manager, as: "c") == nil)
        await manager.shutdown(.suspend)

        manager = try await open(fixture)
        #expect(try await get("/x", "one", of: fixture, in: manager, as: "d") == "lasting=1")
        #expect(try await get("/logout", "one", of: fixture, in: manager, as: "e") == "lasting=1")
        #expect(try await manager.store.read { try $0.cookies.list(ofProfile: "one") }.isEmpty)
        await manager.shutdown(.suspend)
    }

    @Test func aTaskWithoutAJarSendsAndKeepsNoCookies() async throws {
        let fixture = try await setUp()
        let manager = try await open(fixture)
        let id = try await fixture.add("/login", as: "a", to: manager) { $0.profile = "one" }
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        #expect(try await get("/x", "one", of: fixture, in: manager, as: "b") == nil)
        await manager.shutdown(.suspend)
    }

    @Test func aForgottenJarIsRemovedAndNotWrittenAgain() async throws {
        let fixture = try await setUp()
        let manager = try await open(fixture)
        _ = try await get("/login", "one", of: fixture, in: manager, as: "a")
        try await manager.store.write { tx in try tx.profiles.remove(named: "one") }
        await manager.services.cookies.forget("one")
        try await manager.services.cookies.save("one")
        #expect(try await manager.store.read { try $0.cookies.list(ofProfile: "one") }.isEmpty)
        try await manager.store.write { tx in try tx.profiles.set(Profile(name: "one"), isConfigured: false) }
        #expect(try await get("/x", "one", of: fixture, in: manager, as: "b") == nil)
        await manager.shutdown(.suspend)
    }

    @Test func cookiesAppearInNoEvent() async throws {
        let fixture = try await setUp()
        fixture.server.on("/secret") { _ in
            Reply(200, headers: [HeaderField(name: "Set-Cookie", value: "sid=cr0wn; Max-Age=60")], text: "x")
        }
        let manager = try await open(fixture)
        _ = try await get("/secret", "one", of: fixture, in: manager, as: "a")
        guard case .events(let events, _) = try await manager.queries.events(since: 0, EventFilter(), limit: 1000)
        else {
            Issue.record("no events")
            return
        }
        #expect(!"\(events)".contains("cr0wn"))
        await manager.shutdown(.suspend)
    }

    // MARK: The decision

    private func line(_ name: String, expiry: Int, value: String = "v", domain: String = "a.test") -> String {
        "\(domain)\tFALSE\t/\tFALSE\t\(expiry)\t\(name)\t\(value)"
    }

    @Test func onlyChangedCookiesAreWritten() {
        let before = CookieChanges.byKey(
            [line("same", expiry: 9), line("new", expiry: 9), line("gone", expiry: 9)], at: 3)
        let now = CookieChanges.byKey(
            [
                line("same", expiry: 9), line("new", expiry: 10), line("more", expiry: 9, value: "a\tb"),
                line("session", expiry: 0), "nonsense", "#HttpOnly_" + line("new", expiry: 5, domain: ".a.test"),
                line("expired", expiry: 3),
            ], at: 3)
        let changes = CookieChanges(from: before, to: now)
        #expect(changes.written.map(\.key.name).sorted() == ["more", "new", "new"])
        #expect(Set(changes.written.keys.map(\.domain)) == ["a.test", ".a.test"])
        #expect(changes.removed.map(\.name) == ["gone"])
        #expect(CookieChanges(from: now, to: now).isEmpty)
    }

    /// A cookie that becomes one of the session must not come back after a restart.
    @Test func aPersistentCookieThatBecomesASessionCookieIsRemoved() {
        let changes = CookieChanges(
            from: CookieChanges.byKey([line("sid", expiry: 9)], at: 3),
            to: CookieChanges.byKey([line("sid", expiry: 0)], at: 3))
        #expect(changes.removed.map(\.name) == ["sid"] && changes.written.isEmpty)
    }

    @Test func aFullJarKeepsTheLongestLivedCookies() {
        let lines = [line("session", expiry: 0), line("short", expiry: 5), line("long", expiry: 50)]
        #expect(CookieChanges.kept(lines, count: 2) == [lines[1], lines[2]])
        #expect(CookieChanges.kept(lines, count: 3) == lines)
        #expect(CookieChanges.kept(lines, count: 0) == [])
    }

    /// One site cannot remove the login of another, however many cookies it sets.
    @Test(arguments: [0, 1, 30]) func aDomainWithManyCookiesRemovesNoneOfOthers(excess: Int) {
        let login = line("login", expiry: 0, domain: "b.test")
        let many = (0..<CookieChanges.mostOfDomain + excess).map { line("c\($0)", expiry: 1000 + $0) }
        let kept = CookieChanges.kept([login] + many, count: CookieChanges.mostOfDomain + 1)
        #expect(kept == [login] + many.suffix(CookieChanges.mostOfDomain))
        // Within the bound of its domain each cookie counts alike.
        let fewer = CookieChanges.kept([login] + many, count: CookieChanges.mostOfDomain)
        #expect(fewer == Array(many.suffix(CookieChanges.mostOfDomain)))
    }
}
