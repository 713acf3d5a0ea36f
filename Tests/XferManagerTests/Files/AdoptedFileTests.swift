import Glibc
import Testing
import XferModel
import XferTestSupport

@testable import XferManager

/// A download that continues a file of another program (`on_conflict: continue`).
@Suite struct AdoptedFileTests {
    private static let length: Int64 = 300_000
    private static let kept: Int64 = 100_000
    private static let date = 1_700_000_000
    private static let source = SourceVersion(
        seed: 1, length: length, etag: "\"a\"", lastModified: HTTPDate.text(date))

    /// - Parameters:
    ///   - name: the file that the other program has left; nil leaves none.
    ///   - bytes: its content.
    private func open(
        _ name: String? = "a", bytes: [UInt8] = source.bytes(0..<kept)
    ) async throws -> (ManagerFixture, TransferManager) {
        let fixture = try await ManagerFixture()
        fixture.server.serve("/a", Self.source)
        if let name { try FileTree.write(bytes, to: "\(fixture.downloads)/\(name)") }
        let manager = try await fixture.open()
        try await manager.start()
        return (fixture, manager)
    }

    /// Gives the file the date that the server's version has.
    private func setDate(of path: String) {
        let times = [timespec(tv_sec: Self.date, tv_nsec: 0), timespec(tv_sec: Self.date, tv_nsec: 0)]
        #expect(utimensat(AT_FDCWD, path, times, 0) == 0)
    }

    private func end(
        _ fixture: ManagerFixture, _ manager: TransferManager,
        _ change: @escaping @Sendable (inout TaskSpecification) -> Void = { _ in }
    ) async throws -> TransferTask {
        let id = try await fixture.add("/a", as: "a", to: manager) { specification in
            specification.destination.onConflict = .continue
            change(&specification)
        }
        return try await fixture.end(of: id, in: manager)
    }

    @Test func aPartialFileIsContinuedUnderAChecksumAndReplacedByTheWhole() async throws {
        let (fixture, manager) = try await open()
        let task = try await end(fixture, manager) { $0.checksum = Self.source.checksum() }
        #expect(task.state == .completed && !task.outcome.skipped)
        #expect(try fixture.files() == ["a"] && Self.source.equals(file: fixture.downloads + "/a"))
        #expect(fixture.server.requests.map(\.status) == [206])
        // The last byte is requested again.
        #expect(fixture.server.requests.first?.header("Range") == "bytes=99999-")
        await manager.shutdown(.suspend)
    }

    @Test func aCompleteFileWithItsChecksumIsLeftAloneWithoutARequest() async throws {
        let (fixture, manager) = try await open(bytes: Self.source.bytes)
        let task = try await end(fixture, manager) { $0.checksum = Self.source.checksum() }
        #expect(task.state == .completed && task.outcome.skipped && fixture.server.requests.isEmpty)
        await manager.shutdown(.suspend)
    }

    @Test func aPartialFileWithTheWrongBytesIsFetchedAgainUnderAChecksum() async throws {
        let (fixture, manager) = try await open(bytes: SourceVersion.tagged(9, length: Self.kept).bytes)
        let task = try await end(fixture, manager) { $0.checksum = Self.source.checksum() }
        #expect(task.state == .completed)
        #expect(try fixture.files() == ["a"] && Self.source.equals(file: fixture.downloads + "/a"))
        #expect(fixture.server.requests.map(\.status) == [206, 200])
        await manager.shutdown(.suspend)
    }

    @Test func aFileWithTheServersDateIsContinued() async throws {
        let (fixture, manager) = try await open()
        setDate(of: fixture.downloads + "/a")
        let task = try await end(fixture, manager)
        #expect(task.state == .completed)
        #expect(try fixture.files() == ["a"] && Self.source.equals(file: fixture.downloads + "/a"))
        #expect(fixture.server.requests.map(\.status) == [206])
        #expect(fixture.server.requests.first?.header("If-Range") == HTTPDate.text(Self.date))
        await manager.shutdown(.suspend)
    }

    @Test func aFileWhoseDateTheServerDoesNotHaveIsKeptBesideTheNewOne() async throws {
        let (fixture, manager) = try await open()
        let path = fixture.downloads + "/a"
        setDate(of: path)
        let newer = SourceVersion(seed: 2, length: Self.length, lastModified: HTTPDate.text(Self.date + 60))
        fixture.server.serve("/a", newer)
        let task = try await end(fixture, manager)
        #expect(task.state == .completed && task.outcome.finalPath == fixture.downloads + "/a (1)")
        #expect(try FileTree.read(path) == Self.source.bytes(0..<Self.kept))
        #expect(try newer.equals(file: fixture.downloads + "/a (1)"))
        await manager.shutdown(.suspend)
    }

    @Test func aFileOfWhichNothingIsKnownIsRefusedBeforeARequest() async throws {
        let (fixture, manager) = try await open()
        let task = try await end(fixture, manager)
        #expect(task.state == .failed && task.error?.reason == .destinationExists)
        #expect(task.error?.message.contains("resume: unsafe") == true && fixture.server.requests.isEmpty)
        #expect(try fixture.files() == ["a"])
        #expect(try FileTree.read(fixture.downloads + "/a") == Self.source.bytes(0..<Self.kept))
        await manager.shutdown(.suspend)
    }

    /// The digest is right for a complete file, and too weak to join bytes of two versions.
    @Test(arguments: [Checksum.Algorithm.md5, .sha1])
    func underAWeakChecksumAPartialFileIsRefusedAndACompleteOneIsKept(algorithm: Checksum.Algorithm) async throws {
        let (fixture, manager) = try await open()
        let task = try await end(fixture, manager) { $0.checksum = Self.source.checksum(algorithm) }
        #expect(task.state == .failed && task.error?.reason == .destinationExists)
        #expect(task.error?.message.contains("\(algorithm.rawValue) is too weak") == true)
        #expect(try FileTree.read(fixture.downloads + "/a") == Self.source.bytes(0..<Self.kept))
        try FileTree.write(Self.source.bytes, to: fixture.downloads + "/a")
        let complete = try await end(fixture, manager) { $0.checksum = Self.source.checksum(algorithm) }
        #expect(complete.state == .completed && complete.outcome.skipped && fixture.server.requests.isEmpty)
        await manager.shutdown(.suspend)
    }

    @Test(arguments: [false, true])
    func anUnsafeResumptionReplacesTheFileOnlyIfTheNewOneBeginsWithIt(isChanged: Bool) async throws {
        let (fixture, manager) = try await open()
        let path = fixture.downloads + "/a"
        if isChanged {
            let gate = Gate()
            fixture.server.serve("/a", Self.source).always(.stall(at: 1000, until: gate))
            let id = try await fixture.add("/a", as: "a", to: manager) { specification in
                specification.destination.onConflict = .continue
                specification.resumesUnsafely = true
            }
            try await eventually("it is asked for") { fixture.server.requests.count == 1 }
            try FileTree.write("something else", to: path)
            gate.open()
            let task = try await fixture.end(of: id, in: manager)
            #expect(task.outcome.finalPath == fixture.downloads + "/a (1)")
            #expect(try FileTree.text(path) == "something else")
        } else {
            let task = try await end(fixture, manager) { $0.resumesUnsafely = true }
            #expect(task.state == .completed && task.outcome.finalPath == path)
            #expect(try fixture.files() == ["a"] && Self.source.equals(file: path))
        }
        #expect(fixture.server.requests.map(\.status) == [206])
        await manager.shutdown(.suspend)
    }

    @Test func aBrowsersUnfinishedFileIsRemovedOnceItsBytesArePublished() async throws {
        let (fixture, manager) = try await open("a.crdownload")
        // Firefox leaves an empty file under the final name.
        try FileTree.write("", to: fixture.downloads + "/a")
        let task = try await end(fixture, manager) { $0.resumesUnsafely = true }
        #expect(task.state == .completed && fixture.server.requests.map(\.status) == [206])
        #expect(try fixture.files() == ["a"] && Self.source.equals(file: fixture.downloads + "/a"))
        await manager.shutdown(.suspend)
    }

    @Test func ofAnAria2DownloadThePiecesThatAreMissingAreFetched() async throws {
        // Three pieces of 100,000 bytes. The first and the last are complete; zeros stand in for the second.
        let bytes =
            Self.source.bytes(0..<100_000) + [UInt8](repeating: 0, count: 100_000)
            + Self.source.bytes(200_000..<300_000)
        let (fixture, manager) = try await open(bytes: bytes)
        let control: [UInt8] =
            [0, 1] + [0, 0, 0, 0] + [0, 0, 0, 0] + [0, 1, 0x86, 0xA0] + [0, 0, 0, 0, 0, 4, 0x93, 0xE0]
            + [UInt8](repeating: 0, count: 8) + [0, 0, 0, 1] + [0b1010_0000] + [0, 0, 0, 0]
        try FileTree.write(control, to: fixture.downloads + "/a.aria2")
        let task = try await end(fixture, manager) { $0.checksum = Self.source.checksum() }
        #expect(task.state == .completed)
        #expect(fixture.server.requests.map { $0.header("Range") } == ["bytes=100000-199999"])
        #expect(try fixture.files() == ["a"] && Self.source.equals(file: fixture.downloads + "/a"))
        await manager.shutdown(.suspend)
    }

    @Test func withoutAnExistingFileItIsAnOrdinaryDownload() async throws {
        let (fixture, manager) = try await open(nil)
        let first = try await end(fixture, manager)
        #expect(first.state == .completed && first.outcome.finalPath == fixture.downloads + "/a")
        // Its validators are known now.
        let second = try await end(fixture, manager)
        #expect(second.state == .completed && second.outcome.notModified)
        #expect(fixture.server.requests.map(\.status) == [200, 304])
        await manager.shutdown(.suspend)
    }

    @Test func adoptedBytesSurviveARestartBeforeTheFirstResponse() async throws {
        let (fixture, manager) = try await open()
        setDate(of: fixture.downloads + "/a")
        let gate = Gate()
        fixture.server.serve("/a", Self.source).always(.stall(at: 0, until: gate))
        let id = try await fixture.add("/a", as: "a", to: manager) { $0.destination.onConflict = .continue }
        try await eventually("it is asked for") { fixture.server.requests.count == 1 }
        await manager.shutdown(.suspend)
        gate.open()
        fixture.server.serve("/a", Self.source)
        let next = try await fixture.open()
        try await next.start()
        let task = try await fixture.end(of: id, in: next)
        #expect(task.state == .completed && task.outcome.finalPath == fixture.downloads + "/a")
        #expect(try Self.source.equals(file: fixture.downloads + "/a"))
        #expect(fixture.server.requests.allSatisfy { $0.header("If-Range") != nil })
        await next.shutdown(.suspend)
    }
}
