import Testing
import XferCore
import XferModel
import XferStore
import XferTestSupport

@testable import XferManager

/// A download of 3 MB through a series of random misfortunes: breaks, errors that pass, waits, portals, nodes with
/// different tags, useless ranges, bad mirrors; pauses and restarts of the service in between. Over HTTP/1.1 with and
/// without TLS and over HTTP/2, with and without a checksum, from one server or three mirrors, in one piece or in
/// segments.
///
/// The file is right in the end, no other file is published before, no received byte is discarded without an event, and
/// the requests are bounded. 10,000 seeds with XFER_SOAK.
@Suite struct MisfortuneTests {
    // Six are every transport, with and without mirrors.
    private static let portions = Campaign.portions(usual: 6, soak: 10_000)
    private static let longest = Campaign.isSoak ? 200 : 30

    @Test(arguments: portions) func aDownloadSurvivesAnySeriesOfMisfortunes(seeds: Range<UInt64>) async throws {
        try await Campaign.forEach(seeds) { try await download(seed: $0) }
    }

    private func download(seed: UInt64) async throws {
        var random = SplitMix64(seed: seed)
        let misfortunes = Int.random(in: 1...Self.longest, using: &random)
        let isDigestDemanded = random.chance(0.5)
        let segments = SegmentCount(random.chance(0.5) ? 1 : 4)
        let paths = seed / 3 % 2 == 1 ? ["/f", "/m1", "/m2"] : ["/f"]
        let version = SourceVersion(
            seed: seed, length: 3_000_000, etag: "\"v\"",
            headers: [HeaderField(name: "Content-Type", value: "application/octet-stream")])
        let fixture = try await ManagerFixture()
        let authority = try TestCA()
        let caFile = fixture.directory.file("ca.pem")
        try FileTree.write(authority.pem, to: caFile)
        let transport = try await UnluckyTransport(seed, to: fixture.server, authority)
        let unlucky = UnluckyServer(
            version, misfortunes: misfortunes, hasNodes: isDigestDemanded, over: transport, seed: seed ^ 7)
        fixture.server.serve(paths, unlucky)
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
        let urls = paths.map(transport.url)
        let id = try await fixture.add(url: urls[0].string, as: "f", to: manager) {
            $0.mirrors = Array(urls.dropFirst())
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
            try await audit.check(id, manager, "seed \(seed)\n\(unlucky)")
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
        #expect(task.state == .completed, "seed \(seed): \(String(describing: task.error))\n\(unlucky)")
        #expect(try version.equals(file: "\(fixture.downloads)/f"), "seed \(seed)\n\(unlucky)")
        // Each misfortune costs a request, and one more where a node refuses If-Range or a range, or where a redirect
        // leads elsewhere; each interruption as many as there are connections.
        let requests = fixture.server.requests.count
        #expect(requests <= 3 * misfortunes + 8 * interruptions + 40, "seed \(seed): \(requests) requests\n\(unlucky)")
        await manager.shutdown(.suspend)
        await transport.end()
    }

    /// Compares what is kept with the events.
    private struct Audit {
        private var received: Int64 = 0
        private var seq: Int64 = 0

        /// Reads the task and its events in one state of the database: otherwise an event between two reads would count
        /// for bytes that were lost before it.
        mutating func check(
            _ id: TaskID, _ manager: TransferManager, _ comment: @autoclosure () -> String
        ) async throws {
            let (now, discards) = try await manager.store.read { [seq] in
                (
                    try $0.tasks.find(id)?.received,
                    try $0.events.list(
                        since: seq, types: [.taskSourceChanged, .taskBytesDiscarded], taskIDs: [id], limit: 1000)
                )
            }
            let kept = try #require(now)
            if kept < received {
                #expect(!discards.isEmpty, "\(received) bytes became \(kept) without an event, \(comment())")
            }
            received = kept
            seq = discards.last?.seq ?? seq
        }
    }
}
