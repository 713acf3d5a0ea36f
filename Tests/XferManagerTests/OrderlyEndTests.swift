import Logging
import NIOConcurrencyHelpers
import Testing
import XferFiles
import XferModel
import XferStore
import XferTestSupport

@testable import XferManager

@Suite struct OrderlyEndTests {
    /// Keeps what is logged.
    private struct Recorder: LogHandler {
        let lines: NIOLockedValueBox<[String]>
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.info

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            lines.withLockedValue { $0.append("\(event.message) \(event.metadata ?? [:])") }
        }
    }

    @Test func backgroundWorkThatFindsTheDatabaseClosedIsNotLogged() {
        let lines = NIOLockedValueBox<[String]>([])
        let logger = Logger(label: "test") { _ in Recorder(lines: lines) }
        logger.report("deleting old events and history failed", StoreError.closed)
        #expect(lines.withLockedValue { $0 } == [])
        logger.report("deleting old events and history failed", StoreError.degraded(reason: "no room"), ["task": "7"])
        let logged = lines.withLockedValue { $0 }
        #expect(logged.count == 1 && logged[0].contains("no room") && logged[0].contains("7"), "\(logged)")
    }

    /// Opens a manager in `directory`, whose log is kept in `lines`.
    private func open(
        _ path: String, in directory: TemporaryDirectory, _ lines: NIOLockedValueBox<[String]>
    ) async throws -> TransferManager {
        try await TransferManager.open(
            stateDirectory: path,
            settings: ManagerSettings(downloadDirectory: directory.path, roots: [directory.path], ownUID: 0),
            version: "test", logger: Logger(label: "test") { _ in Recorder(lines: lines) },
            reader: { (_, _, _) throws(UnreadableResponse) in throw UnreadableResponse("no reader in this test") })
    }

    /// The kernel releases the lock of a killed process some time after kill(2) has returned.
    @Test func aStartWaitsForTheLockOfADaemonThatIsAboutToEnd() async throws {
        let directory = try TemporaryDirectory("xfer-end")
        let path = try directory.makeDirectory("state", mode: 0o700)
        let ending = NIOLockedValueBox<StateDirectory?>(try StateDirectory(path: path))
        async let manager = open(path, in: directory, NIOLockedValueBox([]))
        ending.withLockedValue { $0 = nil }
        try await manager.shutdown(.suspend)
    }

    @Test func workBesideTheEndOfTheServiceLogsNothing() async throws {
        let directory = try TemporaryDirectory("xfer-end")
        let lines = NIOLockedValueBox<[String]>([])
        let manager = try await open(try directory.makeDirectory("state", mode: 0o700), in: directory, lines)
        try await manager.start()
        await manager.shutdown(.suspend)
        // What was begun and had not come to the database yet comes to it now.
        await manager.begin()
        #expect(lines.withLockedValue { $0.filter { !$0.hasPrefix("stopping ") } } == [])
    }
}

extension TransferManager {
    /// Everything that a start leaves to go on by itself.
    fileprivate func begin() async {
        background.discarder.discardOrphans(upTo: TransferID(.max))
        background.remoteUploads.wake()
        await scheduler.schedule()
        await background.hookQueue.wake()
        await policies.warnOfExpiry()
        await background.discarder.ended()
        await background.remoteUploads.shutdown()
    }
}
