import Testing
import XferModel
import XferProtocol
import XferTestSupport

@testable import XferManager

/// Content that a client puts into the cache: who gets it, and which is refused.
@Suite struct CachePutTests {
    private static let guest = Principal(owner: Owner(uid: 1000), isOperator: false, roots: ["/srv"])

    private let fixture: ManagerFixture
    private let manager: TransferManager
    private var url: String { fixture.server.url("/f") }

    init() async throws {
        fixture = try await ManagerFixture()
        manager = try await fixture.open(change: { $0.cacheMaxBytes = 1000 })
        try await manager.start()
    }

    private func params(_ content: String, checksum: Checksum? = nil) -> CachePut.Params {
        var params = CachePut.Params(url: url)
        params.base64 = Base64Text(Array(content.utf8))
        params.checksum = checksum
        return params
    }

    private func put(
        _ params: CachePut.Params, for caller: Principal = ManagerFixture.caller
    ) async throws -> CacheEntry { try await manager.cache.put(params, for: caller) }

    /// The refusal of a put; nil if it was carried out.
    private func refusal(
        of params: CachePut.Params, for caller: Principal = ManagerFixture.caller
    ) async throws -> ManagerError? {
        do {
            _ = try await put(params, for: caller)
            return nil
        } catch let error as ManagerError {
            return error
        }
    }

    /// A download of the URL that makes no request, after its end.
    private func downloaded(as name: String = "f") async throws -> TransferTask {
        let id = try await fixture.add("/f", as: name, to: manager) { $0.request.caching.policy = .onlyIfCached }
        return try await fixture.end(of: id, in: manager)
    }

    private func entryCount() async throws -> Int64 {
        try await manager.cache.stats(for: ManagerFixture.caller).entries
    }

    @Test func aDownloadTakesPutContentWithoutARequest() async throws {
        let entry = try await put(params("known"))
        #expect(entry.response.length == 5 && entry.owner == ManagerFixture.caller.owner)
        let id = try await fixture.add("/f", as: "f", to: manager) { $0.request.caching.policy = .protocol }
        #expect(try await fixture.end(of: id, in: manager).state == .completed)
        #expect(try FileTree.text("\(fixture.downloads)/f") == "known")
        #expect(fixture.server.requests.isEmpty)
        await manager.shutdown(.suspend)
    }

    @Test func aSecondPutReplacesTheFirst() async throws {
        let first = try await put(params("first"))
        let second = try await put(params("second"))
        #expect(first.id != second.id)
        #expect(try await entryCount() == 1)
        #expect(try await downloaded().state == .completed)
        #expect(try FileTree.text("\(fixture.downloads)/f") == "second")
        await manager.shutdown(.suspend)
    }

    @Test func aFileIsCopiedAndMayChangeAfterwards() async throws {
        let path = fixture.directory.file("content")
        try FileTree.write("known", to: path)
        var params = CachePut.Params(url: url)
        params.file = path
        _ = try await put(params)
        try FileTree.write("other", to: path)
        #expect(try await downloaded().state == .completed)
        #expect(try FileTree.text("\(fixture.downloads)/f") == "known")
        await manager.shutdown(.suspend)
    }

    /// The digests of "abc" are those of RFC 6234 and RFC 1321.
    @Test(arguments: [
        "sha-256=ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad",
        "md5=900150983cd24fb0d6963f7d28e17f72",
    ])
    func contentWithAnotherDigestIsRefusedWithBothDigests(_ digest: String) async throws {
        let checksum = try Checksum(parsing: digest)
        _ = try await put(params("abc", checksum: checksum))
        let error = try await refusal(of: params("abd", checksum: checksum))
        guard case .invalidField(let path, let reason, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(path == "checksum" && reason.hasSuffix(", expected \(digest)"))
        #expect(reason.hasPrefix("the content has \(checksum.algorithm.rawValue)="))
        // What was cached stays.
        #expect(try await downloaded().state == .completed)
        #expect(try FileTree.text("\(fixture.downloads)/f") == "abc")
        await manager.shutdown(.suspend)
    }

    /// Half of `cache.max_bytes` is the largest content.
    @Test func contentAtTheBoundIsStoredAndOneByteMoreIsRefused() async throws {
        for length in [499, 500] {
            #expect(try await refusal(of: params(String(repeating: "a", count: length))) == nil, "\(length)")
        }
        let error = try await refusal(of: params(String(repeating: "a", count: 501)))
        guard case .limitExceeded(let reason, let limit)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(limit == 500 && reason.hasSuffix("the content has 501"))
        #expect(try await entryCount() == 1)
        await manager.shutdown(.suspend)
    }

    @Test func anEmptyContentIsStored() async throws {
        _ = try await put(params(""))
        #expect(try await downloaded().state == .completed)
        #expect(FileTree.size("\(fixture.downloads)/f") == 0)
        await manager.shutdown(.suspend)
    }

    @Test func anotherUsersTaskDoesNotUsePutContent() async throws {
        let entry = try await put(params("known"), for: Self.guest)
        #expect(entry.owner == Self.guest.owner)
        let task = try await downloaded()
        #expect(task.state == .failed && task.error?.reason == .onlyIfCachedMiss)
        await manager.shutdown(.suspend)
    }

    @Test func aConfinedCallerPutsNothing() async throws {
        var caller = Self.guest
        caller.confinement = .downloads
        let error = try await refusal(of: params("known"), for: caller)
        #expect(error?.failure.code == ErrorCode.permissionDenied.rawValue, "\(String(describing: error))")
        #expect(try await entryCount() == 0)
        await manager.shutdown(.suspend)
    }

    @Test func aGuestsFileOutsideItsRootsIsRefused() async throws {
        var params = CachePut.Params(url: url)
        params.file = "/etc/passwd"
        let error = try await refusal(of: params, for: Self.guest)
        #expect(error?.failure.code == ErrorCode.permissionDenied.rawValue, "\(String(describing: error))")
        #expect(error?.failure.data?.path == "file")
        #expect(try await entryCount() == 0)
        await manager.shutdown(.suspend)
    }

    @Test func aPutDuringTheShutdownIsRefused() async throws {
        await manager.shutdown(.suspend)
        #expect(try await refusal(of: params("known")) == .shuttingDown)
    }
}
