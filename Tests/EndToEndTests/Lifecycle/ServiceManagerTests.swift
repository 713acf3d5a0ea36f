import Glibc
import StrictJSON
import Testing
import XferTestSupport

/// What systemd sees: the notify socket and socket activation, without systemd.
@Suite(.serialized) struct ServiceManagerTests {
    @Test func saysWhenItIsReadyBusyAndStopping() async throws {
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

    @Test func reloadingIsAnnounced() async throws {
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

    @Test func feedsTheWatchdogOnlyWhenThereIsOne() async throws {
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
    func takesAnInheritedSocket() async throws {
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
        // The file is there before anybody listens on it.
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
}
