import Glibc
import NIOConcurrencyHelpers
import Testing
import XferCore
import XferModel
import XferStore
import XferTestSupport

@testable import XferManager

/// A download of 3 MB through a series of random misfortunes: breaks, errors that pass, portals, nodes with different
/// tags, useless ranges; pauses and restarts of the service in between. Over HTTP or TLS, with and without a checksum,
/// in one piece or in segments.
///
/// The file is right in the end, no other file is published before, no received byte is discarded without an event, and
/// the requests are bounded. Many seeds with XFER_SOAK, from XFER_SEED on.
@Suite(.serialized) struct MisfortuneTests {
    private static let isSoak = getenv("XFER_SOAK") != nil
    private static let first = getenv("XFER_SEED").flatMap { UInt64(String(cString: $0)) } ?? 1
    private static let seeds = first..<first + (isSoak ? 2000 : 4)
    private static let longest = isSoak ? 200 : 30

    private enum Misfortune: CaseIterable, Sendable {
        case drop, dropEarly, noAnswer, reset, unavailable, overloaded, portal, refused, empty, noContent, shortRange
        /// No range can be used.
        case uselessRange
        /// The server ignores ranges.
        case whole
        /// Another node behind the same name, with a tag of its own.
        case node
    }

    /// The server: each request takes the next misfortune, as long as there are any.
    private struct Server: Sendable {
        let version: SourceVersion
        let isDigestDemanded: Bool
        let state: NIOLockedValueBox<(left: Int, random: SplitMix64, log: [String])>

        func reply(to request: RecordedRequest) -> Reply {
            state.withLockedValue { state in
                guard state.left > 0 else { return version.honestReply(to: request) }
                state.left -= 1
                let kind = Misfortune.allCases.randomElement(using: &state.random) ?? .drop
                let count = Int64.random(in: 1...200_000, using: &state.random)
                let node = state.random.next() % 4
                state.log.append("\(request.header("Range") ?? "whole"): \(kind) \(count)")
                return bent(kind, count, node, request)
            }
        }

        private func bent(_ kind: Misfortune, _ count: Int64, _ node: UInt64, _ request: RecordedRequest) -> Reply {
            var reply = version.honestReply(to: request)
            let isContinued = request.header("Range") != nil
            func apply(_ faults: Fault...) { for fault in faults { fault.apply(to: &reply, request, version) } }
            switch kind {
            case .drop: apply(.drop(after: count))
            case .dropEarly: apply(.drop(after: count % 100, by: .close))
            case .noAnswer: apply(.noAnswer(.close))
            case .reset: apply(.noAnswer(.reset))
            case .unavailable: return Reply(503, text: "later")
            case .overloaded: return Reply(500, text: "later")
            // A first answer cannot be compared with anything.
            case .portal where isContinued:
                return Reply(
                    200, headers: [HeaderField(name: "Content-Type", value: "text/html")],
                    text: String(repeating: "sign in ", count: Int(count / 100)))
            case .refused where isContinued: return Reply(403, text: "not now")
            case .empty where isContinued: return Reply(200, text: "")
            case .noContent where isContinued: return Reply(204, headers: [], body: [])
            case .uselessRange where isContinued: return Reply(416, text: "")
            case .whole: apply(.ignoreRange, .drop(after: count * 8))
            case .shortRange: apply(.shortRange(count), .drop(after: count))
            case .node where isDigestDemanded:
                var other = version
                other.etag = "\"node\(node)\""
                reply = other.honestReply(to: request)
                Fault.drop(after: count).apply(to: &reply, request, other)
            case .portal, .refused, .empty, .noContent, .uselessRange, .node: apply(.drop(after: count))
            }
            return reply
        }
    }

    @Test(arguments: seeds) func aDownloadSurvivesAnySeriesOfMisfortunes(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let misfortunes = Int.random(in: 1...Self.longest, using: &random)
        let isDigestDemanded = random.chance(0.5)
        let segments = SegmentCount(random.chance(0.5) ? 1 : 4)
        let isSecure = random.chance(0.3)
        let version = SourceVersion(
            seed: seed, length: 3_000_000, etag: "\"v\"",
            headers: [HeaderField(name: "Content-Type", value: "application/octet-stream")])
        let fixture = try await ManagerFixture()
        let server = Server(
            version: version, isDigestDemanded: isDigestDemanded,
            state: NIOLockedValueBox((misfortunes, SplitMix64(seed: seed ^ 7), [])))
        fixture.server.on("/f") { server.reply(to: $0) }

        let authority = try TestCA()
        let leaf = try authority.issue()
        try FileTree.write(authority.pem, to: fixture.directory.file("ca.pem"))
        var options = TLSServer.Options(chain: leaf.certificate, privateKey: leaf.privateKey)
        options.backend = fixture.server.port
        let front = try TLSServer(options)
        let caFile = fixture.directory.file("ca.pem")
        func open() async throws -> TransferManager {
            let manager = try await fixture.open(change: {
                $0.retry = RetryPolicy(base: .milliseconds(1), cap: .milliseconds(1))
                $0.smallestSegment = 64 << 10
                $0.authoritiesFile = caFile
                $0.checkpointInterval = .milliseconds(20)
            })
            try await manager.start()
            return manager
        }

        var manager = try await open()
        let checksum = isDigestDemanded ? version.checksum() : nil
        let id = try await fixture.add(
            url: isSecure ? "https://localhost:\(front.port)/f" : fixture.server.url("/f"), as: "f", to: manager
        ) {
            $0.checksum = checksum
            $0.segments = segments
        }
        var audit = Audit()
        var interruptions = 0
        while interruptions < misfortunes {
            let target = fixture.server.requests.count + Int.random(in: 1...8, using: &random)
            let task = try await eventually("the server gets more requests, or the task ends") {
                let task = try await manager.queries.task(id, for: ManagerFixture.caller)
                return task.state.isTerminal || fixture.server.requests.count >= target ? task : nil
            }
            try await audit.check(task, manager, "seed \(seed)")
            if task.state.isTerminal { break }
            #expect(try fixture.files().allSatisfy { $0 != "f" } || version.equals(file: "\(fixture.downloads)/f"))
            interruptions += 1
            if random.chance(0.3) {
                await manager.shutdown(.suspend)
                manager = try await open()
            } else {
                _ = try await manager.tasks.apply(.pause, to: [id], for: ManagerFixture.caller)
                _ = try await manager.tasks.apply(.resume, to: [id], for: ManagerFixture.caller)
            }
        }
        let task = try await fixture.end(of: id, in: manager)
        let log = server.state.withLockedValue { $0.log.joined(separator: "\n") }
        #expect(task.state == .completed, "seed \(seed): \(String(describing: task.error))\n\(log)")
        #expect(try version.equals(file: "\(fixture.downloads)/f"), "seed \(seed)\n\(log)")
        // Each misfortune costs a request, and one more where a node refuses If-Range or a range; each interruption as
        // many as there are connections.
        let requests = fixture.server.requests(to: "/f").count
        #expect(requests <= 3 * misfortunes + 8 * interruptions + 40, "seed \(seed): \(requests) requests\n\(log)")
        await manager.shutdown(.suspend)
        front.stop()
    }

    /// Compares what is kept with the events.
    private struct Audit {
        private var received: Int64 = 0
        private var seq: Int64 = 0

        mutating func check(_ task: TransferTask, _ manager: TransferManager, _ comment: Comment) async throws {
            defer { received = task.received }
            guard task.received < received else { return }
            let since = seq
            let discards = try await manager.store.read {
                try $0.events(
                    since: since, types: [.taskSourceChanged, .taskBytesDiscarded], taskIDs: [task.id], limit: 1000)
            }
            #expect(!discards.isEmpty, "\(received) bytes became \(task.received) without an event, \(comment)")
            seq = discards.last?.seq ?? seq
        }
    }
}
