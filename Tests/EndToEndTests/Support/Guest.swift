import Glibc
import StrictJSON
import Testing
import XferTestSupport

/// Some user that is neither root nor the one who stands for everybody unknown, let in by the configuration.
struct Guest {
    static let uid = 54_321

    let daemon: DaemonFixture
    /// Its only root: anybody may write there.
    let root: String

    /// `xferctl` as this user.
    func callAsFunction(_ arguments: [String]) async throws -> Command.Result {
        try await Command.run(
            try #require(Command.find("setpriv")),
            [
                "--reuid=\(Self.uid)", "--regid=\(Self.uid)", "--clear-groups",
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
    let root = try TemporaryDirectory("guest")
    chmod(root.path, 0o777)
    var options = options
    options.settings["access"] = ["users": "{\"\(Guest.uid)\": {roots: [\"\(root.path)\"]}}"]
    try await withDaemon(options) { daemon in
        // The way to the socket; what it says is the daemon's to decide.
        chmod(daemon.directory.path, 0o755)
        try await body(daemon, Guest(daemon: daemon, root: root.path))
    }
}
