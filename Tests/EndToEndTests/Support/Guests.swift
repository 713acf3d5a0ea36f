import Glibc
import StrictJSON
import Testing
import XferTestSupport

/// Users who are neither root nor the one who stands for everybody unknown, each with a directory of its own. Needs root
/// and setpriv(1).
struct Guests {
    static let isPossible = Machine.isRoot && Command.find("setpriv") != nil

    private let roots: [UInt32: TemporaryDirectory]

    init(_ uids: [UInt32]) throws {
        var roots: [UInt32: TemporaryDirectory] = [:]
        for uid in uids {
            let root = try TemporaryDirectory("guest")
            chmod(root.path, 0o777)
            roots[uid] = root
        }
        self.roots = roots
    }

    /// Lets them use the daemon, with their directory as only root.
    func admit(to options: inout DaemonFixture.Options) {
        let users = roots.map { "\"\($0.key)\": {roots: [\"\($0.value.path)\"]}" }.joined(separator: ", ")
        options.settings["access"] = ["users": "{\(users)}"]
    }

    /// Opens the way to the started daemon's socket; what it says is the daemon's to decide.
    func letIn(to daemon: DaemonFixture) { chmod(daemon.directory.path, 0o755) }

    /// Runs `xferctl` as the user, in its directory.
    func run(_ uid: UInt32, _ daemon: DaemonFixture, _ arguments: [String]) async throws -> Command.Result {
        let identity = ["--reuid=\(uid)", "--regid=\(uid)", "--clear-groups"]
        return try await Command.run(
            try #require(Command.find("setpriv")), identity + ["\(Command.productsDirectory)/xferctl"] + arguments,
            environment: daemon.environment, directory: try #require(roots[uid]).path)
    }

    /// One call as the user. A directory `.` stands for the user's own.
    func call(
        _ uid: UInt32, _ daemon: DaemonFixture, _ method: String, _ params: JSONObject
    ) async throws -> JSONValue {
        var params = params
        if params["dir"] == "." { params["dir"] = .string(try #require(roots[uid]).path) }
        let result = try await run(uid, daemon, ["rpc", method, JSONValue.object(params).text])
        try #require(result.isSuccess, "\(method): \(result)")
        return try JSONValue(parsing: Array(result.output.utf8))
    }
}
