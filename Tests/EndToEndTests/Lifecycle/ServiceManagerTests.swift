import Glibc
import StrictJSON
import Testing
import XferTestSupport

/// What systemd sees: the notify socket and socket activation, without systemd.
@Suite struct ServiceManagerTests {
    @Test func theServiceManagerIsNotifiedOfReadinessStatusAndStopping() async throws {
        let server = try await FaultServer()
        let gate = Gate()
        server.serve("/f", .tagged(70, length: 100_000), faults: [[.stall(at: 50_000, until: gate)]])
        try await withDaemon { daemon in
            #expect(daemon.notifications.filter { $0 == "READY=1" }.count == 1)
            let seen = daemon.notifications.count
            let id = try await daemon.add(server.url("/f"))
            try await eventually("a status while a task runs") {
                daemon.notifications.dropFirst(seen).contains { $0.hasPrefix("STATUS=") && $0.contains("1") }
            }
            gate.open()
            try await daemon.complete(id)
            try await daemon.stop()
            #expect(daemon.notifications.contains("STOPPING=1"))
        }
    }

    @Test func theServiceManagerIsNotifiedOfAReload() async throws {
        try await withDaemon { daemon in
            daemon.reload()
            try await eventually("reloading, then ready") {
                let messages = daemon.notifications
                guard let begin = messages.firstIndex(of: "RELOADING=1") else { return false }
                return messages[begin...].contains { $0.hasPrefix("MONOTONIC_USEC=") }
                    && messages[begin...].contains("READY=1")
            }
        }
    }

    @Test func theWatchdogIsFedOnlyIfOneIsConfigured() async throws {
        var watched = DaemonFixture.Options()
        watched.environment = ["WATCHDOG_USEC": "200000"]
        try await withDaemon(watched) { daemon in
            try await eventually("three times") { daemon.notifications.filter { $0 == "WATCHDOG=1" }.count >= 3 }
        }
        try await withDaemon { daemon in
            _ = try await daemon.call("daemon.status")
            #expect(!daemon.notifications.contains("WATCHDOG=1"))
        }
    }

    @Test(.enabled(if: Command.find("systemd-socket-activate") != nil, "needs systemd"))
    func anInheritedSocketIsServed() async throws {
        let activate = try #require(Command.find("systemd-socket-activate"))
        let daemon = try DaemonFixture()
        let socket = daemon.directory.file("activated.sock")
        var options = ChildProcess.Options()
        options.environment = daemon.environment
        options.output = daemon.logFile
        options.errors = daemon.logFile
        let kept = daemon.environment.filter { $0.key != "XFERD_SOCKET" }.flatMap { ["-E", "\($0.key)=\($0.value)"] }
        let command = ["\(try Command.productsDirectory)/xferd", "--config", daemon.configurationFile]
        let state = ["--state-dir", daemon.stateDirectory, "--foreground-log"]
        let process = try ChildProcess(activate, ["-l", socket] + kept + command + state, options: options)
        // The socket's file exists before systemd-socket-activate listens on it.
        let session = try await eventually("the socket is listened on") { try? RPCSession(socket: socket) }

        // The connection that starts the daemon is answered, too.
        let status = try await session.call("daemon.status")
        #expect(status["pid"]?.integerValue == Int64(process.pid))
        #expect(status["socket"]?.stringValue == socket)
        #expect(!FileTree.exists(daemon.socket))
        process.signal(SIGTERM)
        #expect(await process.exit() == .code(0), "\(daemon.log)")
        // The socket belongs to the service manager.
        #expect(FileTree.exists(socket))
    }

    @Test(.enabled(if: Command.find("systemd-socket-activate") != nil, "needs systemd"))
    func allInheritedSocketsAreServed() async throws {
        let activate = try #require(Command.find("systemd-socket-activate"))
        let daemon = try DaemonFixture()
        let sockets = ["one", "two"].map { daemon.directory.file("\($0).sock") }
        var options = ChildProcess.Options()
        options.environment = daemon.environment
        options.output = daemon.logFile
        options.errors = daemon.logFile
        let kept = daemon.environment.filter { $0.key != "XFERD_SOCKET" }.flatMap { ["-E", "\($0.key)=\($0.value)"] }
        let command = ["\(try Command.productsDirectory)/xferd", "--config", daemon.configurationFile]
        let state = ["--state-dir", daemon.stateDirectory, "--foreground-log"]
        let process = try ChildProcess(
            activate, sockets.flatMap { ["-l", $0] } + kept + command + state, options: options)
        for socket in sockets {
            let session = try await eventually("\(socket) is listened on") { try? RPCSession(socket: socket) }
            #expect(try await session.call("daemon.status")["pid"]?.integerValue == Int64(process.pid))
        }
        process.signal(SIGTERM)
        #expect(await process.exit() == .code(0), "\(daemon.log)")
        #expect(sockets.allSatisfy { FileTree.exists($0) })
    }

    @Test func aSecondDaemonEndsWithOneMessage() async throws {
        try await withDaemon { daemon in
            // Another state directory, the same socket; then the same state directory.
            for arguments in [
                ["--state-dir", daemon.directory.file("other"), "--socket", daemon.socket],
                ["--state-dir", daemon.stateDirectory, "--socket", daemon.directory.file("other.sock")],
            ] {
                let result = try await Command.run(
                    "\(Command.productsDirectory)/xferd",
                    ["--config", daemon.configurationFile, "--foreground-log"] + arguments,
                    environment: daemon.environment)
                #expect(result.exit == .code(1), "\(result)")
                #expect(result.errors.contains("another"), "\(result)")
                #expect(!result.errors.contains("the database is closed"), "\(result)")
            }
        }
    }
}
