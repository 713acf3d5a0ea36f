import Testing
import XferCore
import XferModel
import XferTestSupport

@testable import XferCurl

/// An engine with several loops: whatever runs where, it is one engine.
@Suite struct LoopsTests {
    @Test func concurrentTransfersUseAllLoopsAndArriveWhole() async throws {
        let server = try await FaultServer()
        let version = SourceVersion.tagged(170, length: 400_000)
        server.serve("/file", version)
        let harness = try Harness(loops: 3)
        let loops = try await withThrowingTaskGroup(of: Int.self) { group in
            for _ in 0..<30 {
                group.addTask {
                    let part = try PartFile()
                    let handle = await harness.engine.start(
                        try .get(server.url("/file"), into: part) { $0.checkpoints.dueBytes = 100_000 })
                    let record = try await harness.follow(handle, part: part)
                    #expect(record.outcome.result == .complete)
                    #expect(try part.bytes == version.bytes)
                    return handle.id.loop
                }
            }
            return try await group.reduce(into: Set<Int>()) { $0.insert($1) }
        }
        #expect(loops == [0, 1, 2])
    }

    @Test func consecutiveTransfersUseOneConnection() async throws {
        let server = try await FaultServer()
        server.serve("/file", .tagged(171, length: 1000))
        let harness = try Harness(loops: 2)
        for _ in 0..<10 {
            let part = try PartFile()
            #expect(try await harness.run(.get(server.url("/file"), into: part)).outcome.result == .complete)
        }
        #expect(Set(server.requests.map(\.connection)).count == 1)
    }

    @Test func stoppingOneTransferLeavesTheOthersRunning() async throws {
        let server = try await FaultServer()
        server.serve("/file", .tagged(172, length: 100_000)).always(.hang(after: 10))
        let harness = try Harness(loops: 2)
        var handles: [AttemptHandle] = []
        for _ in 0..<4 { handles.append(await harness.engine.start(try .get(server.url("/file")))) }
        try await eventually("requests are out") { server.requests.count == 4 }
        #expect(Set(handles.map(\.id.loop)) == [0, 1])
        #expect(Set(handles.map(\.id)).count == 4)
        for (index, handle) in handles.enumerated() {
            await harness.engine.stop(handle.id)
            #expect(try await harness.follow(handle).outcome.result == .stopped)
            try await eventually("its connection is closed, and no other") { server.openConnectionCount == 3 - index }
        }
    }

    @Test func aCommitReachesTheLoopOfItsTransfer() async throws {
        let server = try await FaultServer()
        let version = SourceVersion.tagged(173, length: 2 << 20)
        server.serve("/file", version)
        let harness = try Harness(loops: 2)
        let parts = try [PartFile(), PartFile()]
        var handles: [AttemptHandle] = []
        for part in parts {
            handles.append(
                await harness.engine.start(
                    try .get(server.url("/file"), into: part) { attempt in
                        attempt.checkpoints = CheckpointWindow.Limits(dueBytes: 256 << 10, pauseBytes: 512 << 10)
                    }))
        }
        #expect(handles.map(\.id.loop).sorted() == [0, 1])
        // Without commits both wait. A commit for one of them lets only that one go on.
        for handle in handles {
            try await eventually("it waits") { await harness.engine.isPaused(handle.id) == true }
        }
        #expect(try await harness.follow(handles[1], part: parts[1]).outcome.result == .complete)
        #expect(await harness.engine.isPaused(handles[0].id) == true)
        #expect(try await harness.follow(handles[0], part: parts[0]).outcome.result == .complete)
        for part in parts { #expect(try part.bytes == version.bytes) }
    }

    @Test func retiringClosesIdleConnectionsOnEveryLoop() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        server.serve(
            "/file", .tagged(174, length: 50_000),
            faults: [[.stall(at: 10_000, until: gate)], [.stall(at: 10_000, until: gate)]])
        let harness = try Harness(loops: 2)
        var handles: [AttemptHandle] = []
        for _ in 0..<2 { handles.append(await harness.engine.start(try .get(server.url("/file")))) }
        try await eventually("requests are out") { server.requests.count == 2 }
        gate.open()
        for handle in handles { #expect(try await harness.follow(handle).outcome.result == .complete) }
        #expect(server.openConnectionCount == 2)
        await harness.engine.retireSessions { _ in true }
        try await eventually("both are closed") { server.openConnectionCount == 0 }
    }

    @Test func aCookieJarIsSharedByAllLoops() async throws {
        let server = try await FaultServer()
        server.on("/login") { _ in
            Reply(200, headers: [HeaderField(name: "Set-Cookie", value: "sid=abc")], text: "ok")
        }
        server.serve("/held", .tagged(175, length: 100_000)).always(.hang(after: 10))
        server.onAnyOther { _ in Reply(200, text: "ok") }
        let harness = try Harness(loops: 2)
        let first = await harness.engine.start(try .get(server.url("/login")) { $0.cookieJar = "one" })
        #expect(try await harness.follow(first).outcome.result == .complete)
        // Keeps the loop busy that the login was made on.
        let held = await harness.engine.start(try .get(server.url("/held")))
        #expect(held.id.loop == first.id.loop)
        let second = await harness.engine.start(try .get(server.url("/x")) { $0.cookieJar = "one" })
        #expect(second.id.loop != first.id.loop)
        #expect(try await harness.follow(second).outcome.result == .complete)
        let sent = try #require(server.requests(to: "/x").first).headers
        #expect(sent.firstValue(named: "Cookie") == "sid=abc")
        await harness.engine.stop(held.id)
    }

    @Test func manyTransfersUseOneCookieJarAtOnce() async throws {
        let server = try await FaultServer()
        server.onAnyOther { request in
            let name = String(request.path.dropFirst())
            return Reply(200, headers: [HeaderField(name: "Set-Cookie", value: "\(name)=1")], text: "ok")
        }
        let harness = try Harness(loops: 4)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for index in 0..<100 {
                group.addTask {
                    let record = try await harness.run(.get(server.url("/c\(index)")) { $0.cookieJar = "one" })
                    #expect(record.outcome.result == .complete)
                    if index.isMultiple(of: 10) { _ = harness.engine.cookies(in: "one") }
                }
            }
            try await group.waitForAll()
        }
        #expect(harness.engine.cookies(in: "one").count == 100)
    }
}
