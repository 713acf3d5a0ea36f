import StrictJSON
import Testing
import XferTestSupport

/// An upload survives `kill -9` at any moment: the server's file is the source, and little is sent twice.
@Suite(.serialized) struct UploadKillTests {
    private static let length: Int64 = Campaign.isSoak ? 256 << 20 : 64 << 20

    /// The moments of the kills, by bytes the server has.
    private static func moments(seed: UInt64) -> [Int64] {
        var random = SplitMix64(seed: seed)
        return (0..<Campaign.rounds(10)).map { _ in Int64.random(in: 0..<length * 9 / 10, using: &random) }.sorted()
    }

    @Test(arguments: ["tus", "resumable"]) func aBigUploadSurvivesKillsWithRightBytes(by name: String) async throws {
        let source = try UploadSource(seed: 100, length: Self.length)
        // The server reads slowly enough for every kill to come while bytes flow.
        try await withUploads(name == "tus" ? .tus : .resumable, isKilled: true, { $0.readRate = 64 << 20 }) {
            daemon, server in
            let id = try await daemon.upload(source, to: server.url(), by: name)
            for moment in Self.moments(seed: 100) {
                try await eventually("the server has \(moment) bytes", within: Patience.long) {
                    (server.uploads.first?.offset ?? 0) > moment
                }
                // The total counts the whole upload, not the request that sends the rest.
                #expect(try await daemon.view(id).json["progress"]?["total"] == .integer(Self.length))
                await daemon.kill9()
                try await daemon.start()
            }
            try await daemon.complete(id)
            try expectUploaded(source, on: server)
            #expect(server.creationCount == 1)
            // The server keeps what arrives, and is asked for its offset before more is sent.
            #expect(server.receivedBytes == Self.length)
            #expect(try await daemon.events(of: id).filter { $0["terminal"] == true }.count == 1)
        }
    }

    @Test(.enabled(if: TusPyServer.isInstalled, "needs tuspyserver")) func aBigUploadToTuspyserverSurvivesKills()
        async throws
    {
        let server = try await TusPyServer()
        let source = try UploadSource(seed: 101, length: Self.length)
        try await withDaemon { daemon in
            let rate: JSONObject = ["max_send_rate": .integer(64 << 20)]
            let id = try await daemon.upload(source, to: server.url, by: "tus", rate)
            for moment in Self.moments(seed: 101) {
                try await eventually("the server has \(moment) bytes", within: Patience.long) {
                    guard let file = try server.uploads.first else { return false }
                    return FileTree.size(file) ?? 0 > moment
                }
                await daemon.kill9()
                try await daemon.start()
            }
            let view = try await daemon.finish(id)
            #expect(view.state == "completed", "\(view.json.text)\n\(server.log.suffix(3000))")
            #expect(try server.uploads.count == 1)
            #expect(try source.version.equals(file: try #require(try server.uploads.first)))
        }
    }
}
