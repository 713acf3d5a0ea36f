import Glibc
import StrictJSON
import Testing
import XferTestSupport

/// Some user that is neither root nor the one who stands for everybody unknown, let in by the configuration.
struct Guest {
    static let uid: UInt32 = 54_321

    let uid: UInt32
    let daemon: DaemonFixture
    fileprivate let directory: TemporaryDirectory

    /// Its only root: anybody may write there.
    var root: String { directory.path }

    /// `xferctl` as this user.
    func callAsFunction(_ arguments: [String]) async throws -> Command.Result {
        try await Command.run(
            try #require(Command.find("setpriv")),
            [
                "--reuid=\(uid)", "--regid=\(uid)", "--clear-groups",
                "\(Command.productsDirectory)/xferctl",
            ] + arguments, environment: daemon.environment, directory: root)
    }

    /// A call as this user: its result, or nil and what it is answered with instead.
    func call(_ method: String, _ params: JSONValue = [:]) async throws -> (result: JSONValue?, error: String) {
        let ended = try await self(["rpc", method, params.text])
        guard ended.isSuccess else { return (nil, ended.errors) }
        return (try JSONValue(parsing: Array(ended.output.utf8)), "")
    }

    /// Adds a task as this user, which has to be possible.
    func add(_ fields: JSONValue) async throws -> Int64 {
        let answer = try await call("task.add", fields)
        return try #require(answer.result?["task"]?["id"]?.integerValue, "\(answer.error)")
    }
}

/// A daemon that lets a guest in; for tests that run as root.
func withGuest(
    _ options: DaemonFixture.Options = DaemonFixture.Options(), _ body: (DaemonFixture, Guest) async throws -> Void
) async throws {
    try await withGuests(1, options) { daemon, guests in try await body(daemon, guests[0]) }
}

/// A daemon that lets several guests in, each with a root of its own; for tests that run as root.
func withGuests(
    _ count: Int, _ options: DaemonFixture.Options = DaemonFixture.Options(),
    _ body: (DaemonFixture, [Guest]) async throws -> Void
) async throws {
    let users = try (0..<count).map { index in
        let directory = try TemporaryDirectory("guest")
        chmod(directory.path, 0o777)
        return (uid: Guest.uid + UInt32(index), directory: directory)
    }
    var options = options
    let entries = users.map { "\"\($0.uid)\": {roots: [\"\($0.directory.path)\"]}" }
    options.settings["access"] = ["users": "{\(entries.joined(separator: ", "))}"]
    try await withDaemon(options) { daemon in
        // The way to the socket; what it says is the daemon's to decide.
        chmod(daemon.directory.path, 0o755)
        try await body(daemon, users.map { Guest(uid: $0.uid, daemon: daemon, directory: $0.directory) })
    }
}
