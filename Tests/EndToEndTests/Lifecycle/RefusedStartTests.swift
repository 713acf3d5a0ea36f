import Glibc
import StrictJSON
import Testing
import XferTestSupport

/// A start that ends with 78 has written nothing.
struct RefusedStartTests {
    /// Everything below a directory, with what tells that it was written to.
    private func tree(_ path: String) throws -> [String: String] {
        var found: [String: String] = [:]
        for name in try FileTree.entries(below: path) {
            var status = stat()
            guard lstat("\(path)/\(name)", &status) == 0 else { throw PosixError("lstat \(name)") }
            let times = "\(status.st_mtim.tv_sec).\(status.st_mtim.tv_nsec)"
            let bytes = name.hasSuffix("/") ? [] : try FileTree.read("\(path)/\(name)")
            found[name] = "\(status.st_ino) \(status.st_mode) \(times) \(bytes.hashValue)"
        }
        return found
    }

    private func expectRefusal(_ daemon: DaemonFixture, _ what: String) async throws {
        let before = try tree(daemon.stateDirectory)
        let start = try await Command.run(
            "\(try Command.productsDirectory)/xferd", daemon.arguments, environment: daemon.environment)
        #expect(start.exit == .code(78), "\(start)")
        #expect(start.description.contains(what), "\(start)")
        #expect(try tree(daemon.stateDirectory) == before)
        #expect(!FileTree.exists(daemon.socket))
    }

    @Test func theDaemonRefusesAnotherProgramsDatabase() async throws {
        let daemon = try DaemonFixture()
        try FileTree.write("hello", to: daemon.stateDirectory + "/xferd.sqlite", mode: 0o600)
        try await expectRefusal(daemon, "is not a database of this program")
    }

    @Test func theDaemonRefusesADatabaseOfANewerVersion() async throws {
        let daemon = try DaemonFixture()
        try await daemon.start()
        try await daemon.stop()
        let database = daemon.stateDirectory + "/xferd.sqlite"
        var bytes = try FileTree.read(database)
        // user_version (https://sqlite.org/fileformat2.html#the_database_header).
        bytes[60] = 1
        try FileTree.write(bytes, to: database, mode: 0o600)
        try await expectRefusal(daemon, "was written by a newer program")
    }

    /// The newer program was killed right after its first commit.
    @Test func theDaemonRefusesADatabaseWhoseNewerVersionIsOnlyInItsLog() async throws {
        let daemon = try DaemonFixture()
        try await daemon.start()
        _ = try await daemon.add("http://127.0.0.1:9/", ["paused": true])
        await daemon.kill9()
        FileTree.remove(daemon.socket)
        let log = daemon.stateDirectory + "/xferd.sqlite-wal"
        var bytes = try FileTree.read(log)
        let pageSize = bytes[8..<12].reduce(0) { $0 << 8 | Int($1) }
        let frames = stride(from: 32, to: bytes.count - 24 - pageSize, by: 24 + pageSize)
        let first = frames.filter { bytes[$0..<$0 + 4].elementsEqual([0, 0, 0, 1]) }
        try #require(!first.isEmpty)
        for frame in first { bytes[frame + 24 + 60] = 1 }
        try FileTree.write(bytes, to: log, mode: 0o600)
        try await expectRefusal(daemon, "was written by a newer program")
    }

    @Test(arguments: [false, true]) func theDaemonRefusesContradictingTrustPolicies(hasDatabase: Bool) async throws {
        let daemon = try DaemonFixture()
        if hasDatabase {
            try await daemon.start()
            try await daemon.stop()
        }
        let policy =
            "{ name: NAME, mode: public_key, hosts: [a.example], pins: [\"sha256/\(String(repeating: "A", count: 43))=\"] }"
        let policies = ["one", "two"].map { policy.replacing("NAME", with: $0) }.joined(separator: ", ")
        try daemon.configure(["trust": ["policies": "[\(policies)]"]])
        try await expectRefusal(daemon, "a.example")
    }

    @Test func theDaemonRefusesAnUnreadableConfiguration() async throws {
        var options = DaemonFixture.Options()
        options.configuration = "queue: { max_active: many }\n"
        try await expectRefusal(try DaemonFixture(options), "config.yaml:1:")
    }
}
