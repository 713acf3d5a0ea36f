import Glibc
import StrictJSON
import Testing
import XferTestSupport

/// The state directory goes while the daemon runs: nothing that is answered counts as kept.
struct StateDirectoryTests {
    private func health(_ daemon: DaemonFixture) async throws -> String {
        let socket = try UnixSocket(connectedTo: daemon.socket)
        try await socket.send("GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        return try await socket.readToEnd()
    }

    private func expectDegraded(_ daemon: DaemonFixture, _ path: String) async throws {
        let answer = try await health(daemon)
        #expect(answer.hasPrefix("HTTP/1.1 503") && answer.contains(path), "\(answer)")
        let refusal = try #require(
            await #expect(throws: RPCRefusal.self) { try await daemon.add("http://127.0.0.1:9/", ["paused": true]) })
        #expect(refusal.code == -32007 && refusal.message.contains(path), "\(refusal)")
        let status = try await daemon.call("daemon.status")
        #expect(status["degraded"] == true)
        #expect(status["degraded_reason"]?.stringValue?.contains(path) == true, "\(status.text)")
    }

    @Test func aDeletedStateDirectoryIsNoticedBeforeAnAddIsAnswered() async throws {
        try await withDaemon { daemon in
            _ = try await daemon.add("http://127.0.0.1:9/", ["paused": true])
            FileTree.remove(daemon.stateDirectory)
            try await expectDegraded(daemon, "xferd.sqlite")
            #expect(await daemon.terminate().exit == .code(0))
        }
    }

    @Test func aDatabaseReplacedByAnotherFileIsNotWritten() async throws {
        try await withDaemon { daemon in
            let database = daemon.stateDirectory + "/xferd.sqlite"
            let bytes = try FileTree.read(database)
            try FileTree.write(bytes, to: database + ".new", mode: 0o600)
            try #require(rename(database + ".new", database) == 0)
            try await expectDegraded(daemon, "xferd.sqlite")
            #expect(await daemon.terminate().exit == .code(0))
        }
    }

    @Test func aStateDirectoryThatIsMovedAwayAndBackIsLoggedOnceEachWayWithoutAnyWrite() async throws {
        try await withDaemon { daemon in
            let away = daemon.directory.file("away")
            try #require(rename(daemon.stateDirectory, away) == 0)
            for _ in 0..<3 { #expect(try await health(daemon).hasPrefix("HTTP/1.1 503")) }
            try await eventually("logged") { daemon.log.contains("the database cannot be written: nothing starts") }
            try #require(rename(away, daemon.stateDirectory) == 0)
            try await eventually("logged") { daemon.log.contains("the database can be written again") }
            #expect(try await health(daemon).hasPrefix("HTTP/1.1 200"))
            #expect(daemon.log.ranges(of: "the database cannot be written: nothing").count == 1)
        }
    }

    @Test func aStateDirectoryThatReappearsIsWrittenAgain() async throws {
        try await withDaemon { daemon in
            let kept = try await daemon.add("http://127.0.0.1:9/", ["paused": true])
            let away = daemon.directory.file("away")
            try #require(rename(daemon.stateDirectory, away) == 0)
            try await expectDegraded(daemon, "xferd.sqlite")
            try #require(rename(away, daemon.stateDirectory) == 0)
            try await eventually("well again") { try await daemon.call("daemon.status")["degraded"] == false }
            let added = try await daemon.add("http://127.0.0.1:9/", ["paused": true])
            #expect(added == kept + 1, "what was refused was not added")
        }
    }
}
