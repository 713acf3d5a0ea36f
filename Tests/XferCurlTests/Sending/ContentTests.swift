import Glibc
import NIOConcurrencyHelpers
import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferCurl

/// Files as content: whole, in part, and guarded.
@Suite struct ContentTests {
    @Test func aFileIsSentWithItsLengthAndProgress() async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(201, text: "thanks") }
        let file = try SentFile(.tagged(80, length: 3_000_001))
        let harness = try Harness()
        let handle = await harness.engine.start(try .exchange(.put, server.url("/x"), .file(file.whole)))
        let record = try await harness.follow(handle)
        #expect(record.outcome.result == .complete)
        #expect(record.outcome.head?.status == 201)
        #expect(server.requests.first?.header("Content-Length") == "3000001")
        #expect(server.requests.first?.body == file.version.bytes)
        #expect(handle.progress.snapshot.sent == 3_000_001)
        #expect(handle.progress.snapshot.sendTotal == 3_000_001)
        #expect(handle.progress.snapshot.received == 6)
    }

    @Test(arguments: [0..<0, 0..<1, 65_536..<131_072, 99_999..<200_000] as [Range<Int64>])
    func aRangeOfAFileIsSentAlone(range: Range<Int64>) async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in Reply(204) }
        let file = try SentFile(.tagged(81, length: 200_000))
        let record = try await Harness().run(.exchange(.patch, server.url("/x"), .file(file.part(range))))
        #expect(record.outcome.result == .complete)
        #expect(server.requests.first?.header("Content-Length") == String(range.count))
        #expect(server.requests.first?.body == file.version.bytes(range))
    }

    @Test(arguments: SentFile.Change.allCases)
    func aFileThatHasChangedIsNotSentAtAll(change: SentFile.Change) async throws {
        let server = try await FaultServer()
        let file = try SentFile(.tagged(82, length: 10_000))
        change.apply(to: file)
        let record = try await Harness().run(.exchange(.put, server.url("/x"), .file(file.whole)))
        #expect(record.error?.reason == .sourceFileChanged)
        #expect(record.error?.isRetriable == false)
        #expect(record.error?.message.contains(file.path) == true)
        #expect(!record.outcome.requestWasSent)
        #expect(server.connectionCount == 0)
    }

    @Test func anotherFileUnderTheSameFactsIsNotSent() async throws {
        let server = try await FaultServer()
        let file = try SentFile(.tagged(83, length: 10_000))
        var content = file.whole
        content.source.identity = FileIdentity(
            device: file.source.identity.device, inode: file.source.identity.inode + 1)
        let record = try await Harness().run(.exchange(.put, server.url("/x"), .file(content)))
        #expect(record.error?.reason == .sourceFileChanged)
        #expect(server.connectionCount == 0)
    }

    @Test(arguments: [(-1, 5), (9_999, 2), (0, 10_001), (Int64.max, 1), (1, Int64.max)] as [(Int64, Int64)])
    func aRangeBeyondTheFileIsRefused(offset: Int64, length: Int64) async throws {
        let file = try SentFile(.tagged(84, length: 10_000))
        var content = file.whole
        (content.offset, content.length) = (offset, length)
        let record = try await Harness().run(.exchange(.put, "http://127.0.0.1:1/x", .file(content)))
        #expect(record.error?.reason == .sourceFileChanged)
    }

    /// The server has read some of it, and the rest cannot all be in buffers, when the file changes.
    @Test(arguments: SentFile.Change.allCases, [false, true])
    func aFileThatChangesDuringTheSendingEndsTheRequest(change: SentFile.Change, asPart: Bool) async throws {
        let file = try SentFile(.tagged(85, length: 32 << 20))
        let (begun, changed) = (Gate(), Gate())
        let received = NIOLockedValueBox<[UInt8]?>(nil)
        let server = try RawServer { connection in
            guard connection.readHead() != nil else { return }
            let first = connection.read(100_000)
            begun.open()
            changed.block()
            let rest = connection.readAll()
            received.withLockedValue { $0 = first + rest }
        }
        let content: AttemptContent =
            asPart
            ? .parts([
                AttemptPart(name: "before", content: .bytes([1])), AttemptPart(name: "f", content: .file(file.whole)),
            ])
            : .file(file.whole)
        let harness = try Harness()
        let handle = await harness.engine.start(try .exchange(.put, server.url("/x"), content))
        await begun.wait()
        change.apply(to: file)
        changed.open()
        let record = try await harness.follow(handle)
        #expect(record.error?.reason == .sourceFileChanged)
        #expect(record.error?.isRetriable == false)
        let bytes = try await eventually("the server sees the end") { received.withLockedValue { $0 } }
        #expect(bytes.count < Int(file.version.length))
        if !asPart { #expect(file.version.firstDifference(from: bytes) == nil) }
    }

    @Test func contentThatCannotBeRewoundIsNotSent() async throws {
        var ends: [Int32] = [0, 0]
        #expect(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let content = AttemptFile(descriptor: ends[0], source: SentFile.facts(ends[0], "/a/pipe"))
        let record = try await Harness().run(.exchange(.put, "http://127.0.0.1:1/x", .file(content)))
        #expect(record.error?.reason == .bodyNotRewindable)
        #expect(record.error?.isRetriable == false)
        #expect(record.error?.message.contains("/a/pipe") == true)
    }

    @Test func aDescriptorThatIsClosedIsADiskError() async throws {
        var content = try SentFile(.tagged(87, length: 10)).whole
        content.descriptor = -1
        let record = try await Harness().run(.exchange(.put, "http://127.0.0.1:1/x", .file(content)))
        #expect(record.error?.reason == .diskError)
    }

    @Test func aRequestRepeatedByLibcurlSendsIdenticalContent() async throws {
        let file = try SentFile(.tagged(86, length: 100_000))
        let bodies = NIOLockedValueBox<[[UInt8]]>([])
        let server = try Self.dyingServer(bodies)
        let harness = try Harness()
        let first = try await harness.run(.exchange(.get, server.url("/x")))
        #expect(first.outcome.head?.status == 200)
        let record = try await harness.run(.exchange(.put, server.url("/x"), .file(file.whole)))
        #expect(record.outcome.head?.status == 200)
        #expect(server.connectionCount == 2)
        let seen = bodies.withLockedValue { $0 }
        #expect(seen.count == 2)
        #expect(seen.allSatisfy { $0 == file.version.bytes })
    }

    @Test func libcurlDoesNotRepeatARequestThatMayHaveBeenProcessed() async throws {
        let bodies = NIOLockedValueBox<[[UInt8]]>([])
        let server = try Self.dyingServer(bodies)
        let harness = try Harness()
        _ = try await harness.run(.exchange(.get, server.url("/x")))
        let record = try await harness.run(
            .exchange(.post, server.url("/x"), .bytes(Array(repeating: 1, count: 100_000))))
        #expect(record.error?.reason == .connectionLost)
        #expect(record.outcome.requestWasSent)
        #expect(bodies.withLockedValue(\.count) == 1)
    }

    /// The first connection answers a GET and dies silently under the next request, the others answer.
    private static func dyingServer(_ bodies: NIOLockedValueBox<[[UInt8]]>) throws -> RawServer {
        try RawServer { connection in
            let ok = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
            while let head = connection.readHead() {
                if head.hasPrefix("GET ") {
                    connection.write(ok)
                    continue
                }
                let body = connection.read(100_000)
                bodies.withLockedValue { $0.append(body) }
                if connection.number == 1 { return }
                connection.write(ok)
            }
        }
    }

    @Test func aRequestThatNeverLeftIsReportedAsUnsent() async throws {
        let closed = try ClosedPort()
        defer { withExtendedLifetime(closed) {} }
        let record = try await Harness().run(.exchange(.post, closed.url("/x"), .bytes([1])))
        #expect(record.error?.reason == .connectFailed)
        #expect(!record.outcome.requestWasSent)
    }

    @Test func aRequestWithoutAnAnswerIsReportedAsSent() async throws {
        let server = try await FaultServer()
        server.onAnyOther { _ in
            var reply = Reply(200, ending: .close)
            reply.rawHead = []
            return reply
        }
        let record = try await Harness().run(.exchange(.post, server.url("/x"), .bytes([1])))
        #expect(record.error?.isRetriable == true)
        #expect(record.outcome.requestWasSent)
    }

    /// Other tests run in this process beside it and take memory of their own; the whole content would show each time.
    @Test func sendingALargeFileDoesNotGrowMemory() async throws {
        let length: Int64 = 256 << 20
        for _ in 0..<3 where try await growth(sending: length) < length * 3 / 4 { return }
        Issue.record("sending \(length) bytes took memory for most of them, three times")
    }

    private func growth(sending length: Int64) async throws -> Int64 {
        let directory = try TemporaryDirectory("xfer-sparse")
        try FileTree.write([], to: directory.file("sparse"))
        let descriptor = open(directory.file("sparse"), O_RDWR | O_CLOEXEC)
        defer { close(descriptor) }
        #expect(ftruncate(descriptor, off_t(length)) == 0)
        let before = try Self.residentBytes()
        let highest = NIOLockedValueBox(before)
        // Looked at wherever the content is on its way.
        let server = try RawServer { connection in
            guard connection.readHead() != nil else { return }
            var left = Int(length)
            while left > 0 {
                let count = connection.read(min(left, 1 << 20)).count
                if count == 0 { return }
                left -= count
                if let now = try? Self.residentBytes() { highest.withLockedValue { $0 = max($0, now) } }
            }
            connection.write("HTTP/1.1 204 No Content\r\n\r\n")
        }
        let content = AttemptFile(descriptor: descriptor, source: SentFile.facts(descriptor, "sparse"))
        let harness = try Harness()
        let handle = await harness.engine.start(try .exchange(.put, server.url("/x"), .file(content)))
        let record = try await harness.follow(handle)
        #expect(record.outcome.head?.status == 204)
        #expect(handle.progress.snapshot.sent == length)
        return highest.withLockedValue { $0 } - before
    }

    private static func residentBytes() throws -> Int64 {
        let fields = try FileTree.text("/proc/self/statm").split(separator: " ")
        return (Int64(fields[1]) ?? 0) * Int64(sysconf(Int32(_SC_PAGESIZE)))
    }
}
