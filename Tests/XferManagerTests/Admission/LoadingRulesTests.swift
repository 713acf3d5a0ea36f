import Testing
import XferCurl
import XferModel
import XferStore
import XferTestSupport

@testable import XferManager

/// What becomes of a request between the client's words and the stored row.
@Suite struct LoadingRulesTests {
    /// The examples of AFHTTPSessionManager's header documentation, and a base without its slash.
    @Test(arguments: [
        ("http://example.com/v1/", "foo", "http://example.com/v1/foo"),
        ("http://example.com/v1/", "foo?bar=baz", "http://example.com/v1/foo?bar=baz"),
        ("http://example.com/v1/", "/foo", "http://example.com/foo"),
        ("http://example.com/v1/", "foo/", "http://example.com/v1/foo/"),
        ("http://example.com/v1/", "/foo/", "http://example.com/foo/"),
        ("http://example.com/v1/", "http://example2.com/", "http://example2.com/"),
        ("http://example.com/v1", "foo", "http://example.com/v1/foo"),
    ])
    func relativeURLsAreResolvedAgainstTheBase(base: String, text: String, expected: String) async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        var profile = Profile(name: "p")
        profile.baseURL = try ProfileText.baseURL(base)
        _ = try await manager.profiles.set(profile)
        let added = try await manager.tasks.add(draft(text) { $0.profile = "p" }, for: ManagerFixture.caller)
        #expect(added.task.specification.request.url.string == expected)
        await manager.shutdown(.suspend)
    }

    private func draft(
        _ url: String, kind: TaskKind = .data, _ change: (inout RequestFields) -> Void
    ) -> TaskDraft {
        var fields = RequestFields(kind: kind)
        change(&fields)
        let profile = fields.profile
        return TaskDraft(url: url, request: fields) { request in
            TaskSpecification(
                owner: ManagerFixture.caller.owner, request: request, destination: .none, kind: kind,
                startsPaused: true, profile: profile)
        }
    }

    private func refusal(
        _ draft: TaskDraft, by manager: TransferManager, for principal: Principal = ManagerFixture.caller
    ) async -> ManagerError? {
        do {
            _ = try await manager.tasks.add(draft, for: principal)
            return nil
        } catch {
            return error as? ManagerError
        }
    }

    @Test func effectiveOptionsAreKeptWithTheTask() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        var profile = Profile(name: "p")
        profile.headers = [HeaderField(name: "X-A", value: "1")]
        profile.idleTimeout = 7
        _ = try await manager.profiles.set(profile)
        let added = try await manager.tasks.add(
            draft("http://h.test/") { $0.profile = "p" }, for: ManagerFixture.caller)
        profile.headers = []
        _ = try await manager.profiles.set(profile)
        try await manager.profiles.remove("p")
        let kept = try await manager.queries.task(added.task.id, for: ManagerFixture.caller).specification
        #expect(kept.request.headers == [HeaderField(name: "X-A", value: "1")])
        #expect(kept.request.timeouts.idle == 7)
        #expect(kept.profile == "p")
        await manager.shutdown(.suspend)
    }

    @Test func anUnsetOptionFollowsTheDefaultOfThatTime() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        var profile = Profile(name: "p")
        profile.idleTimeout = 7
        profile.redirect = .deny
        _ = try await manager.profiles.set(profile)
        func add(_ change: @escaping (inout RequestFields) -> Void) async throws -> TaskID {
            try await manager.tasks.add(
                draft("http://h.test/") {
                    $0.profile = "p"
                    change(&$0)
                }, for: ManagerFixture.caller
            ).task.id
        }
        func request(_ id: TaskID) async throws -> TransferRequest {
            try await manager.queries.task(id, for: ManagerFixture.caller).specification.request
        }
        let old = try await add { _ in }
        profile.idleTimeout = 9
        profile.redirect = .sameOrigin
        _ = try await manager.profiles.set(profile)
        let new = try await add { _ in }
        let explicit = try await add { $0.idleTimeout = .set(3) }
        let cleared = try await add { $0.idleTimeout = .clear }
        #expect(try await request(old).timeouts.idle == 7)
        #expect(try await request(old).redirect == .deny)
        #expect(try await request(new).timeouts.idle == 9)
        #expect(try await request(new).redirect == .sameOrigin)
        #expect(try await request(explicit).timeouts.idle == 3)
        #expect(try await request(cleared).timeouts.idle == 15)
        await manager.shutdown(.suspend)
    }

    @Test func aFaultyRequestIsRefusedByField() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        func path(_ draft: TaskDraft) async -> String? {
            switch await refusal(draft, by: manager) {
            case .invalidField(let path, _, _): path
            case .permissionDenied(let path, _): path
            default: nil
            }
        }
        #expect(await path(draft("http://h.test/") { $0.profile = "none" }) == "profile")
        #expect(await path(draft("relative") { _ in }) == "url")
        #expect(await path(draft("file:///etc/passwd") { _ in }) == "url")
        let missing = FileReference(path: "/nowhere/at/all", field: "body.file")
        #expect(await path(draft("http://h.test/") { $0.content = .file(missing) }) == "body.file")
        let directory = RequestPart(
            name: "a", content: .file(FileReference(path: fixture.downloads, field: "parts[2].file")))
        #expect(await path(draft("http://h.test/") { $0.content = .parts([directory]) }) == "parts[2].file")
        #expect(await path(draft("http://h.test/") { $0.acceptedTypes = .set(["nope"]) }) == "accept_types[0]")
        #expect(try await manager.queries.counts().values.reduce(0, +) == 0)
        await manager.shutdown(.suspend)
    }

    @Test func theSentContentIsStoredBesideTheTask() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        let path = fixture.downloads + "/photo.jpeg"
        try FileTree.write("bytes", to: path)
        let parts: [RequestPart] = [
            RequestPart(name: "a", content: .bytes(InlineBytes([1, 2]))),
            RequestPart(name: "b", content: .file(FileReference(path: path, field: "parts[1].file"))),
        ]
        let added = try await manager.tasks.add(
            draft("http://h.test/") { $0.content = .parts(parts) }, for: ManagerFixture.caller)
        #expect(added.task.specification.request.method == .post)
        #expect(added.task.specification.request.bodySummary == BodySummary(form: .parts, length: nil))
        let body = try await manager.store.read { try $0.bodies.find(of: added.task.id) }
        guard case .parts(let kept)? = body, case .file(let source) = kept[1].content else {
            Issue.record("not kept: \(String(describing: body))")
            return
        }
        #expect(kept[1].filename == "photo.jpeg" && kept[0].filename == nil)
        #expect(source.length == 5 && source.path == path)
        await manager.shutdown(.suspend)
    }

    @Test func configuredProfilesAreReadOnly() async throws {
        let fixture = try await ManagerFixture()
        let manager = try await fixture.open()
        var settings = manager.settings
        settings.profiles = [Profile(name: "p")]
        try await manager.reload(settings)
        #expect(try await manager.profiles.get("p").isConfigured)
        await #expect(throws: ManagerError.profileIsConfigured("p")) { try await manager.profiles.remove("p") }
        await #expect(throws: ManagerError.profileIsConfigured("p")) {
            try await manager.profiles.set(Profile(name: "p"))
        }
        settings.profiles = []
        try await manager.reload(settings)
        await #expect(throws: ManagerError.profileNotFound("p")) { try await manager.profiles.get("p") }
        await manager.shutdown(.suspend)
    }
}
