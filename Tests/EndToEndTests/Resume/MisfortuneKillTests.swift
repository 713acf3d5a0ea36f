import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// Downloads from unlucky servers by the real xferd, which is killed (kill -9) at random moments in between: over
/// HTTP/1.1 with and without TLS and over HTTP/2, with and without a checksum, from one server or three mirrors, in one
/// piece or in segments.
///
/// Each file is right in the end, no other file is published before, no durable byte is discarded without an event, each
/// task ends once, nothing is left over, and the requests are bounded. 10,000 downloads with XFER_SOAK: a seed draws the
/// kills of one daemon and its 20 downloads. To bound the time, only those of each eighth daemon draw up to 200
/// misfortunes, the others up to 60.
@Suite(.serialized) struct MisfortuneKillTests {
    /// Downloads that one daemon makes at the same time.
    private static let width = Campaign.isSoak ? 20 : 8
    private static let portions = Campaign.portions(usual: 1, soak: 500)
    private static let mostKills = Campaign.isSoak ? 8 : 4

    /// The most misfortunes of a download of this seed's daemon.
    private static func longest(_ seed: UInt64) -> Int { Campaign.isSoak ? (seed % 8 == 0 ? 200 : 60) : 12 }

    /// One download and its servers.
    private struct Download {
        let seed: UInt64
        let id: Int64
        let misfortunes: Int
        let paths: [String]
        let unlucky: UnluckyServer

        var name: String { "f\(seed)" }
    }

    @Test(arguments: portions) func downloadsSurviveMisfortunesAndKills(seeds: Range<UInt64>) async throws {
        try await Campaign.forEach(seeds) { try await killBetweenDownloads(seed: $0) }
    }

    private func killBetweenDownloads(seed: UInt64) async throws {
        let width = UInt64(Self.width)
        let longest = Self.longest(seed)
        // The requests between two kills, so that the kills are spread over the daemon's misfortunes.
        let span = max(2, longest / 30) * Self.width
        var random = SplitMix64(seed: seed)
        let options = DaemonFixture.Options(settings: [
            "queue": ["max_active": "\(width)", "max_active_per_host": "\(width)"],
            "download": ["checkpoint_bytes": "\(128 << 10)"],
        ])
        try await withDaemon(options) { daemon in
            let server = try await FaultServer()
            let authority = try TestCA()
            try FileTree.write(authority.pem, to: Self.authorities(of: daemon))
            var transports: [UnluckyTransport] = []
            for kind: UInt64 in 0..<3 { transports.append(try await UnluckyTransport(kind, to: server, authority)) }
            var downloads: [Download] = []
            for index in 0..<width {
                let transport = transports[Int(clamping: index % 3)]
                downloads.append(
                    try await add(seed * width + index, upTo: longest, to: daemon, server, over: transport))
            }
            var kills = 0
            while kills < Self.mostKills {
                let target = server.requests.count + Int.random(in: 1...span, using: &random)
                let haveEnded = try await eventually("the server gets more requests", within: Patience.long) {
                    if try await push(downloads, of: daemon) { return true }
                    return server.requests.count >= target ? false : nil
                }
                if haveEnded { break }
                await daemon.kill9()
                kills += 1
                for download in downloads where FileTree.exists("\(daemon.downloads)/\(download.name)") {
                    try check(download, in: daemon)
                }
                try await daemon.start()
            }
            try await eventually("every download ends", within: Patience.long) { try await push(downloads, of: daemon) }
            for download in downloads { try await checkEnd(of: download, in: daemon, server, kills) }
            try await daemon.expectDownloads(downloads.map(\.name).sorted())
            for transport in transports { await transport.end() }
        }
    }

    /// The file with the authority of the servers' certificates.
    private static func authorities(of daemon: DaemonFixture) -> String { daemon.directory.file("ca.pem") }

    /// Adds the seed's download.
    private func add(
        _ seed: UInt64, upTo longest: Int, to daemon: DaemonFixture, _ server: FaultServer,
        over transport: UnluckyTransport
    ) async throws -> Download {
        var random = SplitMix64(seed: seed)
        let version = SourceVersion(seed: seed, length: 3_000_000, etag: "\"v\"")
        let misfortunes = Int.random(in: 1...longest, using: &random)
        let isDigestDemanded = random.chance(0.5)
        let paths = (random.chance(0.4) ? [0, 1, 2] : [0]).map { "/\(seed)-\($0)" }
        let unlucky = UnluckyServer(
            version, misfortunes: misfortunes, hasNodes: isDigestDemanded, over: transport, seed: seed ^ 7)
        server.serve(paths, unlucky)
        var fields: JSONObject = [
            "output": .string("f\(seed)"), "segments": .integer(random.chance(0.5) ? 1 : 4),
            "ca_file": .string(Self.authorities(of: daemon)),
        ]
        let urls = paths.map { JSONValue.string(transport.url($0).string) }
        if urls.count > 1 { fields["urls"] = .array(urls) } else { fields["url"] = urls[0] }
        if isDigestDemanded { fields["checksum"] = .string(version.checksum().description) }
        let result = try await daemon.call("task.add", .object(fields))
        guard let id = result["task"]?["id"]?.integerValue else { throw TimedOut("task.add answered \(result.text)") }
        return Download(seed: seed, id: id, misfortunes: misfortunes, paths: paths, unlucky: unlucky)
    }

    /// Cuts short the waits of the downloads. Returns whether all have ended.
    private func push(_ downloads: [Download], of daemon: DaemonFixture) async throws -> Bool {
        let session = try daemon.session()
        var haveEnded = true
        for download in downloads {
            let result = try await session.call("task.get", ["id": .integer(download.id)])
            let view = TaskView(json: result["task"] ?? result)
            if view.isTerminal { continue }
            haveEnded = false
            if view.state == "waiting" {
                _ = try await session.call("task.resume", ["ids": [.integer(download.id)]])
            }
        }
        return haveEnded
    }

    private func check(_ download: Download, in daemon: DaemonFixture) throws {
        let isRight = try download.unlucky.version.equals(file: "\(daemon.downloads)/\(download.name)")
        #expect(isRight, "seed \(download.seed)\n\(download.unlucky)")
    }

    /// Compares the bytes that each run begins with, which are those of the last commit, with the events in between.
    private func expectNoSilentLoss(_ events: [JSONValue], of download: Download) {
        var kept: Int64 = 0
        for event in events {
            switch event["type"]?.stringValue {
            case "task.bytes_discarded", "task.source_changed": kept = 0
            case "task.started":
                let offset = event["offset"]?.integerValue ?? 0
                #expect(
                    offset >= kept, "seed \(download.seed): \(kept) bytes became \(offset)\n\(download.unlucky)")
                kept = offset
            default: break
            }
        }
    }

    private func checkEnd(
        of download: Download, in daemon: DaemonFixture, _ server: FaultServer, _ kills: Int
    ) async throws {
        let view = try await daemon.view(download.id)
        #expect(view.state == "completed", "seed \(download.seed): \(view.json.text)\n\(download.unlucky)")
        try check(download, in: daemon)
        let events = try await daemon.events(of: download.id)
        #expect(events.filter { $0["terminal"] == true }.count == 1, "seed \(download.seed)")
        expectNoSilentLoss(events, of: download)
        // Each misfortune costs a request, and one more where a node refuses If-Range or a range; each kill as many as
        // there are connections.
        let requests = download.paths.reduce(0) { $0 + server.requests(to: $1).count }
        #expect(
            requests <= 3 * download.misfortunes + 8 * kills + 40,
            "seed \(download.seed): \(requests) requests\n\(download.unlucky)")
    }
}
