import StrictJSON
import Testing
import XferModel
import XferTestSupport

/// `range` and `max_size` of downloads, and a name that is taken meanwhile.
@Suite struct RangeAndSizeTests {
    private let source = SourceVersion.tagged(90, length: 3_000_000)

    @Test func aPartIsDownloadedContinuedAndVerifiedAsAWhole() async throws {
        let server = try await FaultServer()
        server.serve("/f", source, faults: [[.drop(after: 400_000, by: .close)]])
        let expected = source.bytes(500_000..<2_000_000)
        try await withTask(server.url("/f"), ["range": "500000-1999999"]) { daemon, id in
            let view = try await daemon.complete(id)
            #expect(try FileTree.read(try #require(view.finalPath)) == expected)
            let ranges = server.requests(to: "/f").compactMap { $0.header("Range") }
            #expect(ranges.first == "bytes=500000-1999999")
            #expect(ranges.count == 2 && ranges.last != ranges.first, "the rest was continued: \(ranges)")

            let rest = try await daemon.complete(
                try await daemon.add(server.url("/f"), ["range": "2999990-", "output": "rest"]))
            #expect(try FileTree.read(try #require(rest.finalPath)) == source.bytes(2_999_990..<3_000_000))

            let split = try await daemon.complete(
                try await daemon.add(
                    server.url("/f"), ["range": "100-2900099", "segments": 2, "output": "split", "coalesce": false]))
            #expect(try FileTree.read(try #require(split.finalPath)) == source.bytes(100..<2_900_100))
        }
    }

    @Test func theLastBytesOfASourceAreDownloadedAndContinued() async throws {
        let server = try await FaultServer()
        server.serve("/f", source, faults: [[.drop(after: 400_000, by: .close)]])
        try await withTask(server.url("/f"), ["range": "-1000000", "segments": 4]) { daemon, id in
            let view = try await daemon.complete(id)
            #expect(try FileTree.read(try #require(view.finalPath)) == source.bytes(2_000_000..<3_000_000))
            #expect(view.json["range"]?.stringValue == "-1000000")
            let ranges = server.requests(to: "/f").compactMap { $0.header("Range") }
            #expect(ranges.first == "bytes=-1000000")
            #expect(ranges.count == 2 && ranges.last != ranges.first, "the rest was continued: \(ranges)")

            // A source that is shorter is the part.
            let added = try await daemon.ctl(
                "add", "--wait", "--range=-4000000", "-o", daemon.downloads + "/whole", server.url("/f"))
            #expect(added.isSuccess, "\(added)")
            #expect(try FileTree.read(daemon.downloads + "/whole") == source.bytes(0..<3_000_000))
        }
    }

    @Test func theBytesOfADownloadWhoseNameIsTakenMeanwhileAllStay() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        server.serve("/f", source, faults: [[.stall(at: 1_000_000, until: gate)]])
        try await withTask(server.url("/f"), ["on_conflict": "fail", "output": "f"]) { daemon, id in
            try await daemon.waitForBytes(1_000_000, of: id)
            let path = daemon.downloads + "/f"
            try FileTree.write("another's", to: path)
            gate.open()
            let failed = try await daemon.fails(id, "destination_exists")
            #expect(failed.received == source.length)
            #expect(try FileTree.text(path) == "another's")
            FileTree.remove(path)
            let requests = server.requests.count
            _ = try await daemon.call("task.retry", ["ids": [.integer(id)]])
            try expectFile(try await daemon.complete(id), is: source)
            #expect(server.requests.count == requests, "no byte is fetched again")
        }
    }

    @Test func aServerThatIgnoresTheRangeFailsTheTask() async throws {
        let server = try await FaultServer()
        server.serve("/f", source).always(.ignoreRange)
        try await withTask(server.url("/f"), ["range": "10-19"]) { daemon, id in
            try await daemon.fails(id, "range_mismatch")
            try await daemon.expectDownloads([])
            // The whole is another matter.
            try await daemon.complete(try await daemon.add(server.url("/f")))
        }
    }

    @Test func aDownloadThatIsOrBecomesTooLargeFailsAndLeavesNothing() async throws {
        let server = try await FaultServer()
        server.serve("/known", source)
        server.serve("/unknown", source).always(.chunked)
        try await withDaemon { daemon in
            for path in ["/known", "/unknown"] {
                let id = try await daemon.add(server.url(path), ["max_size": 2_999_999])
                let failed = try await daemon.fails(id, "too_large")
                #expect(failed.errorMessage.contains("2999999"))
                try await eventually("no partial file of \(path)") {
                    try FileTree.entries(below: daemon.downloads).isEmpty
                }
                _ = try await daemon.call(
                    "task.update", ["id": .integer(id), "changes": ["max_size": 3_000_000]])
                _ = try await daemon.call("task.retry", ["ids": [.integer(id)]])
                try expectFile(try await daemon.complete(id), is: source)
                FileTree.remove(try #require(try await daemon.finish(id).finalPath))
            }
        }
    }
}
