import Glibc
import StrictJSON
import Testing
import XferTestSupport

@Suite struct ShutdownTests {
    /// A server that has sent half of a source and waits.
    private func half(_ length: Int64 = 400_000) async throws -> (FaultServer, SourceVersion, Gate) {
        let server = try await FaultServer()
        let source = SourceVersion.tagged(60, length: length)
        let gate = Gate()
        server.serve("/f", source, faults: [[.stall(at: length / 2, until: gate)]])
        return (server, source, gate)
    }

    @Test func aTerminationKeepsEveryByteAndIsPrompt() async throws {
        let (server, source, gate) = try await half()
        try await withTask(server.url("/f")) { daemon, id in
            try await daemon.waitForBytes(200_000, of: id)
            // Neither the server, which sends nothing until the gate is opened below, nor a client that waits is waited
            // for: ending at all is the proof.
            let waiting = try UnixSocket(connectedTo: daemon.socket)
            try await waiting.send(
                #"{"jsonrpc":"2.0","id":1,"method":"task.wait","params":{"ids":[\#(id)]}}"# + "\n"
                    + #"{"jsonrpc":"2.0","id":2,"method":"network.status"}"# + "\n")
            // The wait was read before.
            #expect(try await waiting.readLine()?.contains(#""id":2"#) == true)
            #expect(await daemon.terminate().exit == .code(0))
            // It is answered that the daemon stops, and not just cut off.
            let answer = try JSONValue(parsing: try #require(try await waiting.readLine()).utf8)
            #expect(answer["id"] == 1 && answer["error"]?["code"] == -32008, "\(answer.text)")
            #expect(!gate.isOpen)
            try await daemon.start()
            try expectFile(try await daemon.complete(id), is: source)
            #expect(server.requests.map { $0.header("Range") } == [nil, "bytes=200000-"])
            #expect(try await daemon.events(types: "daemon.stopping").count == 1)
            #expect(try await daemon.events(types: "daemon.started").count == 2)
            #expect(try await daemon.events(of: id, types: "task.restored").count == 1)
        }
        gate.open()
    }

    /// Two seconds are promised. A busy machine may hold up one daemon of several, it does not hold up each.
    @Test func aTerminationTakesLessThanTwoSeconds() async throws {
        let (server, _, gate) = try await half()
        try await withTask(server.url("/f")) { daemon, id in
            var times: [Duration] = []
            while times.count < 5, !times.contains(where: { $0 < .seconds(2) }) {
                try await daemon.waitForBytes(200_000, of: id)
                times.append(await daemon.terminate().took)
                try await daemon.start()
            }
            #expect(times.contains { $0 < .seconds(2) }, "\(times)")
        }
        gate.open()
    }

    @Test(arguments: ["suspend", "cancel"]) func aShutdownCallIsAnsweredBeforeTheShutdownBegins(_ mode: String)
        async throws
    {
        let (server, _, gate) = try await half()
        try await withTask(server.url("/f")) { daemon, id in
            try await daemon.waitForBytes(200_000, of: id)
            let process = try #require(daemon.process)
            _ = try await daemon.call("daemon.shutdown", ["mode": .string(mode)])
            #expect(await process.exit() == .code(0))
            try await daemon.start()
            let state = try await daemon.view(id).state
            #expect(mode == "cancel" ? state == "cancelled" : state != "cancelled")
            if mode == "cancel" { try await daemon.expectDownloads([]) }
        }
        gate.open()
    }

    @Test func aDrainFinishesRunningTasksAndRefusesNewOnes() async throws {
        let (server, source, gate) = try await half()
        try await withTask(server.url("/f")) { daemon, id in
            try await daemon.waitForBytes(200_000, of: id)
            let process = try #require(daemon.process)
            let session = try daemon.session()
            _ = try await session.call("daemon.shutdown", ["mode": "drain"])
            await #expect { _ = try await session.call("task.add", ["url": "http://127.0.0.1:9/"]) } throws: {
                ($0 as? RPCRefusal)?.code == -32008
            }
            gate.open()
            #expect(await process.exit() == .code(0))
            #expect(try source.equals(file: "\(daemon.downloads)/f"))
        }
    }

    @Test func aSecondDaemonIsRefused() async throws {
        try await withDaemon { daemon in
            let xferd = "\(try Command.productsDirectory)/xferd"
            let arguments = ["--state-dir", daemon.stateDirectory, "--socket", daemon.directory.file("other.sock")]
            let second = try await Command.run(
                xferd, arguments + ["--config", daemon.configurationFile], environment: ["HOME": daemon.directory.path])
            #expect(second.exit != .code(0))
            #expect(second.description.contains(daemon.stateDirectory), "\(second)")
            _ = try await daemon.call("daemon.status")
            #expect(!FileTree.exists(daemon.directory.file("other.sock")))
        }
    }

    @Test func aStaleSocketIsReplacedAndALiveOneIsNot() async throws {
        try await withDaemon { daemon in
            await daemon.kill9()
            #expect(FileTree.exists(daemon.socket))
            try await daemon.start()
            let other = try TemporaryDirectory()
            let arguments = [
                "--state-dir", other.path, "--socket", daemon.socket, "--config", daemon.configurationFile,
            ]
            let second = try await Command.run(
                "\(try Command.productsDirectory)/xferd", arguments, environment: ["HOME": other.path])
            #expect(second.exit != .code(0))
            #expect(second.description.contains(daemon.socket), "\(second)")
            _ = try await daemon.call("daemon.status")
        }
    }

    @Test func theSocketIsAccessibleToItsOwnerOnly() async throws {
        try await withDaemon { daemon in
            #expect(FileTree.mode(daemon.socket) == 0o600)
            #expect(FileTree.mode("\(daemon.stateDirectory)/xferd.sqlite") == 0o600)
        }
    }

    @Test func aReloadAppliesNewLimitsAndKeepsTheOldOnesIfBroken() async throws {
        try await withDaemon { daemon in
            func maxActive() async throws -> Int64? {
                try await daemon.call("queue.stats")["limits"]?["max_active"]?.integerValue
            }
            #expect(try await maxActive() == 6)
            try daemon.configure(["queue": ["max_active": "2"]])
            daemon.reload()
            try await eventually("reloaded") { try await maxActive() == 2 }
            // In one step: a reload that is still under way would take an emptied file for one that asks for nothing.
            try FileTree.write("queue: { max_active: many }\n", to: daemon.configurationFile + ".new")
            try #require(rename(daemon.configurationFile + ".new", daemon.configurationFile) == 0)
            daemon.reload()
            try await eventually("refused") { daemon.log.contains("config.yaml:1") }
            #expect(try await maxActive() == 2)
        }
    }

    @Test(arguments: [
        ("queue: { max_actve: 3 }\n", "config.yaml:1:"), ("queue:\n  max_active: six\n", "config.yaml:2:"),
        ("download: { reserve: 12Qi }\n", "config.yaml:1:"), ("queue: [\n", "config.yaml:"),
        ("surprise: 1\n", "config.yaml:1:"),
    ])
    func anUnreadableConfigurationIsReportedWithItsPlace(_ text: String, _ place: String) async throws {
        var options = DaemonFixture.Options()
        options.configuration = text
        let daemon = try DaemonFixture(options)
        let xferd = "\(try Command.productsDirectory)/xferd"
        let check = try await Command.run(
            xferd, ["--config", daemon.configurationFile, "--check-config"], environment: daemon.environment)
        #expect(check.exit == .code(2))
        #expect(check.errors.contains(place), "\(check)")
        let start = try await Command.run(xferd, daemon.arguments, environment: daemon.environment)
        #expect(start.exit != .code(0) && start.exit != .signal(SIGKILL))
        #expect(start.description.contains(place), "\(start)")
    }
}
