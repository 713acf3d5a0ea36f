import Glibc
import StrictJSON
import Testing
import XferTestSupport

/// Clients beside a daemon that is starting, and what a daemon says of faults.
@Suite struct StartingTests {
    @Test func aClientThatIsStartedRightAfterTheDaemonIsAnswered() async throws {
        let daemon = try DaemonFixture()
        let products = try Command.productsDirectory
        let arguments = daemon.arguments.map { "'\($0)'" }.joined(separator: " ")
        for _ in 0..<5 {
            let script = """
                '\(products)/xferd' \(arguments) 2>/dev/null & '\(products)/xferctl' --socket '\(daemon.socket)' status --json
                code=$?; kill $!; wait $!; exit $code
                """
            let result = try await Command.run("/bin/sh", ["-c", script], environment: daemon.environment)
            #expect(result.isSuccess && result.output.contains("\"version\""), "\(result)")
        }
        #expect(!FileTree.exists(daemon.socket + ".lock"))
    }

    @Test func aClientWithoutADaemonEndsWith4AtOnceAlsoBesideAStaleLockFile() async throws {
        let daemon = try DaemonFixture()
        for round in 0..<2 {
            if round == 1 { try FileTree.write("", to: daemon.socket + ".lock") }
            let start = ContinuousClock.now
            let result = try await daemon.ctl("status")
            #expect(result.exit == .code(4) && result.errors.contains("no daemon answers"), "\(result)")
            #expect(ContinuousClock.now - start < Patience.limit)
        }
    }

    @Test func aDaemonWithFilesOfItsOwnIsShownWithItsCommandLineAndLog() async throws {
        try await withDaemon { daemon in
            let shown = try await daemon.ctl("daemon")
            let options = "--config \(daemon.configurationFile) --state-dir \(daemon.stateDirectory) --socket"
            #expect(shown.isSuccess && !shown.output.contains("xferctl add"), "\(shown)")
            #expect(shown.output.contains("start it again: ") && shown.output.contains(options), "\(shown)")
            let log = try await daemon.ctl("daemon", "log")
            #expect(log.isSuccess && log.output.contains("ready socket=\(daemon.socket)"), "\(log)")
        }
    }

    @Test func aSecondDaemonOnASocketEndsWithOneMessage() async throws {
        let other = try DaemonFixture()
        try await withDaemon { daemon in
            var arguments = other.arguments
            let place = try #require(arguments.firstIndex(of: other.socket))
            arguments[place] = daemon.socket
            let second = try await Command.run(
                "\(try Command.productsDirectory)/xferd", arguments, environment: other.environment)
            let lines = second.errors.split(separator: "\n")
            #expect(second.exit == .code(1) && lines.count == 1, "\(second)")
            #expect(second.errors.contains("another process is listening on \(daemon.socket)"), "\(second)")
            #expect(try await daemon.call("daemon.status")["degraded"] == false)
        }
    }

    @Test(arguments: ["--check-database", "--recover"])
    func aStateDirectoryWithoutADatabaseIsNeitherSoundNorMade(option: String) async throws {
        let daemon = try DaemonFixture()
        let nowhere = daemon.directory.file("nowhere")
        for directory in [nowhere, daemon.stateDirectory] {
            let result = try await Command.run(
                "\(try Command.productsDirectory)/xferd",
                [option, "--config", daemon.configurationFile, "--state-dir", directory],
                environment: daemon.environment)
            #expect(result.exit == .code(option == "--recover" ? 1 : 78), "\(result)")
            #expect(result.errors.contains("does not exist") && result.output.isEmpty, "\(result)")
        }
        #expect(!FileTree.exists(nowhere))
        #expect(try FileTree.names(in: daemon.stateDirectory).isEmpty)
    }

    @Test func eachFailureOfATaskIsOneLineOfTheLog() async throws {
        let server = try await FaultServer()
        server.on("/gone") { _ in .failure(404) }
        try await withDaemon { daemon in
            let id = try await daemon.add(server.url("/gone?token=planted-9"))
            try await daemon.fails(id, "http_status")
            let dependent = try await daemon.add(server.url("/x"), ["after": [.integer(id)]])
            try await daemon.fails(dependent, "dependency_failed")
            try await eventually("both are logged") {
                daemon.log.split(separator: "\n").filter { $0.contains("warning") && $0.contains("a task has failed") }
                    .count == 2
            }
            let line = try #require(daemon.log.split(separator: "\n").first { $0.contains("a task has failed") })
            #expect(line.contains("task=\(id)") && line.contains("http_status") && line.contains("404"), "\(line)")
            #expect(!daemon.log.contains("planted-9"))
        }
    }

    @Test func theLogSaysWhatStartedWhatWasDownloadedAndWhatIsLeft() async throws {
        let server = try await FaultServer()
        server.serve("/f", SourceVersion.tagged(194, length: 1000))
        try await withDaemon { daemon in
            let id = try await daemon.add(server.url("/f?token=planted-8"))
            try await daemon.wait(id, for: "completed")
            try await eventually("it is logged") { daemon.log.contains("a task has completed") }
            let line = try #require(daemon.log.split(separator: "\n").first { $0.contains("a task has completed") })
            for field in ["task=\(id)", "path=\(daemon.downloads)/f", "bytes=1000", "host=127.0.0.1:", "attempts=1"] {
                #expect(line.contains(field), "\(line)")
            }
            #expect(line.contains("seconds=") && !line.contains("planted-8"), "\(line)")
            try await daemon.add("http://127.0.0.1:9/x", ["paused": true])
            let log = try await daemon.ctl("log", "\(id)")
            #expect(log.isSuccess && log.output.contains("task.completed"), "\(log)")
            let version = try await Command.run("\(Command.productsDirectory)/xferd", ["--version"]).output.dropLast()
            #expect(try await daemon.call("daemon.status")["version"]?.stringValue == String(version))
            let starts = try await daemon.events(types: "daemon.started")
            #expect(starts.map { $0["version"]?.stringValue } == [String(version)])
            try await daemon.stop()
            let start = daemon.log.split(separator: "\n").first { $0.contains("started") }
            #expect(start?.contains(version) == true, "\(version): \(start ?? "")")
            #expect(daemon.log.contains("started") && daemon.log.contains("state_directory=\(daemon.stateDirectory)"))
            #expect(daemon.log.split(separator: "\n").contains { $0.contains("stopping") && $0.contains("paused=1") })
        }
    }

    @Test func aRejectedReloadIsShownInStatusUntilTheFileIsRight() async throws {
        try await withDaemon { daemon in
            #expect(try await daemon.call("daemon.status")["config_problem"] == nil)
            try daemon.configure(["queue": ["max_active": "many"]])
            daemon.reload()
            let problem = try await eventually("the fault is known") {
                try await daemon.call("daemon.status")["config_problem"]?.stringValue
            }
            #expect(problem.contains("queue.max_active") && problem.contains("config.yaml:"), "\(problem)")
            let status = try await daemon.ctl("status")
            #expect(status.output.contains("was not applied") && !status.output.contains("well"), "\(status)")
            try daemon.configure(["queue": ["max_active": "2000"]])
            daemon.reload()
            try await eventually("it is taken over") {
                try await daemon.call("daemon.status")["config_problem"] == nil
            }
            #expect(try await daemon.call("queue.stats")["limits"]?["max_active"] == 2000)
        }
    }
}
