import Glibc
import StrictJSON
import Testing
import XferTestSupport

/// A task that was in flight in two crashes without progress between them waits; others go on.
@Suite(.enabled(if: Command.find("prlimit") != nil, "needs prlimit(1)")) struct SuspectTests {
    /// A server whose answer to `/f` begins when the gate opens, and which sends `/g` at once.
    private func stalling() async throws -> (FaultServer, SourceVersion, Gate) {
        let server = try await FaultServer()
        let (source, gate) = (SourceVersion.tagged(210, length: 400_000), Gate())
        server.serve("/f", source).always(.stallHead(until: gate))
        server.serve("/g", .tagged(211, length: 1000))
        return (server, source, gate)
    }

    private func options() throws -> DaemonFixture.Options {
        var options = DaemonFixture.Options(settings: ["download": ["checkpoint_interval": "1"]])
        // A core file would lie in the directory of the tests.
        options.launcher = [try #require(Command.find("prlimit")), "--core=0"]
        return options
    }

    @Test(arguments: [SIGSEGV, SIGILL, SIGTRAP, SIGBUS, SIGABRT])
    func aTaskThatRunsInTwoCrashesIsASuspectAndOthersGoOn(signal: Int32) async throws {
        let (server, source, gate) = try await stalling()
        try await withTask(server.url("/f"), [:], options()) { daemon, id in
            try await daemon.crashes(by: signal, inRequests: 1, of: id, server)
            try await daemon.start()
            try await daemon.crashes(by: signal, inRequests: 2, of: id, server)
            try await daemon.start()

            let view = TaskView(json: try await daemon.wait(id, for: "waiting"))
            #expect(view.waitReason == "suspect")
            #expect(view.errorMessage.contains("crashed 2 times"), "\(view.errorMessage)")
            let told = try await daemon.events(of: id, types: "task.waiting")
            #expect(told.last?["wait"]?["reason"] == "suspect")
            try await daemon.complete(try await daemon.add(server.url("/g")))
            #expect(try await daemon.view(id).waitReason == "suspect")
            #expect(server.requests(to: "/f").count == 2)
            #expect(try await daemon.ctl("list").output.contains("xferd crashed twice while it ran"))

            // It waits over a start without a crash, too, and goes on when it is resumed.
            try await daemon.stop()
            try await daemon.start()
            #expect(try await daemon.view(id).waitReason == "suspect")
            gate.open()
            _ = try await daemon.call("task.resume", ["ids": [.integer(id)]])
            try expectFile(try await daemon.complete(id), is: source)
        }
    }

    @Test(arguments: ["task.resume", "task.retry"]) func aResumedSuspectMayCrashTwiceAgainBeforeItIsHeldBack(
        method: String
    ) async throws {
        let (server, _, gate) = try await stalling()
        try await withTask(server.url("/f"), [:], options()) { daemon, id in
            for round in 1...2 {
                try await daemon.crashes(by: SIGSEGV, inRequests: round, of: id, server)
                try await daemon.start()
            }
            try await daemon.wait(id, for: "waiting")
            _ = try await daemon.call(method, ["ids": [.integer(id)]])
            try await daemon.crashes(by: SIGSEGV, inRequests: 3, of: id, server)
            try await daemon.start()
            try await daemon.crashes(by: SIGSEGV, inRequests: 4, of: id, server)
            try await daemon.start()
            #expect(TaskView(json: try await daemon.wait(id, for: "waiting")).waitReason == "suspect")
        }
        gate.open()
    }

    @Test func progressBetweenTwoCrashesClearsASuspect() async throws {
        let (server, source, gate) = try await stalling()
        let served = server.serve("/h", source)
        served.next([.stallHead(until: gate)], [.stall(at: 200_000, until: gate)])
        served.always(.stallHead(until: gate))
        try await withTask(server.url("/h"), [:], options()) { daemon, id in
            try await daemon.crashes(by: SIGSEGV, inRequests: 1, of: id, server)
            try await daemon.start()
            try await eventually("bytes are durable", within: Patience.long) {
                let read = try? await daemon.call("task.read", ["id": .integer(id), "offset": 0, "length": 1])
                return (read?["length"]?.integerValue ?? 0) > 0
            }
            try await daemon.crashes(by: SIGSEGV, inRequests: 2, of: id, server)
            try await daemon.start()
            try await daemon.crashes(by: SIGSEGV, inRequests: 3, of: id, server)
            try await daemon.start()
            let view = TaskView(json: try await daemon.wait(id, for: "waiting"))
            #expect(view.waitReason == "suspect", "the third crash was the second without progress")
            #expect(server.requests(to: "/h").count == 3)
        }
        gate.open()
    }

    @Test func killsAndCleanStopsNeverMakeATaskASuspect() async throws {
        let (server, _, gate) = try await stalling()
        try await withTask(server.url("/f"), [:], options()) { daemon, id in
            try await daemon.crashes(by: SIGSEGV, inRequests: 1, of: id, server)
            try await daemon.start()
            for round in 2...4 {
                try await eventually("the server is asked") { server.requests(to: "/f").count == round }
                await daemon.kill9()
                try await daemon.start()
            }
            try await eventually("the server is asked") { server.requests(to: "/f").count == 5 }
            try await daemon.stop()
            try await daemon.start()
            try await eventually("the server is asked") { server.requests(to: "/f").count == 6 }
            #expect(try await daemon.view(id).state == "running")
        }
        gate.open()
    }
}

extension DaemonFixture {
    /// Ends the daemon with a signal as a fault of its own would, once the server was asked that often for the task.
    fileprivate func crashes(by signal: Int32, inRequests count: Int, of id: Int64, _ server: FaultServer) async throws
    {
        try await eventually("the server is asked", within: Patience.long) {
            try await view(id).state == "running" && server.requests.filter { $0.path != "/g" }.count == count
        }
        let process = try #require(process)
        process.signal(signal)
        #expect(await process.exit() == .signal(signal), "the signal takes its course")
    }
}
