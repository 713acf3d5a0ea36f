import Glibc
import StrictJSON
import Testing
import XferTestSupport

/// Some user that is neither root nor the overflow user, admitted by the configuration. Needs root and setpriv(1).
struct Guest {
    static let isPossible = Machine.isRoot && Command.find("setpriv") != nil

    let daemon: DaemonFixture
    let uid: Int64
    /// Its only root, where every user may write.
    let root: String

    /// `xferctl` as this user, in its root.
    func callAsFunction(_ arguments: [String]) async throws -> Command.Result {
        try await Command.run(
            try #require(Command.find("setpriv")),
            ["--reuid=\(uid)", "--regid=\(uid)", "--clear-groups", "\(Command.productsDirectory)/xferctl"] + arguments,
            environment: daemon.environment, directory: root)
    }

    /// A call as this user: its result, or nil and the error.
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

/// The user that the daemon runs as in a guest test.
enum ServiceUser: CaseIterable {
    case root
    /// Some user without capabilities, as the system's unit has it.
    case ordinary

    static let ordinaryUID: Int64 = 54_000
}

/// A daemon that admits this many guests.
func withGuests(
    _ count: Int, _ options: DaemonFixture.Options = DaemonFixture.Options(), as user: ServiceUser = .root,
    _ body: (DaemonFixture, [Guest]) async throws -> Void
) async throws {
    let roots = try (0..<count).map { _ in try TemporaryDirectory("guest") }
    let users = roots.enumerated().map { (uid: Int64(54_321 + $0.offset), root: $0.element.path) }
    for user in users { chmod(user.root, 0o777) }
    var options = options
    let granted = users.map { "\"\($0.uid)\": {roots: [\"\($0.root)\"]}" }.joined(separator: ", ")
    options.settings["access"] = ["users": "{\(granted)}"]
    if user == .ordinary {
        let uid = ServiceUser.ordinaryUID
        options.launcher = [
            try #require(Command.find("setpriv")), "--reuid=\(uid)", "--regid=\(uid)", "--clear-groups", "--",
        ]
    }
    try await withDaemon(
        options,
        prepare: { daemon in
            guard user == .ordinary else { return }
            // The notify socket, too: what the daemon says goes there.
            for path in [
                daemon.directory.path, daemon.downloads, daemon.stateDirectory, daemon.directory.file("notify"),
            ] {
                chown(path, uid_t(ServiceUser.ordinaryUID), gid_t(ServiceUser.ordinaryUID))
            }
        }
    ) { daemon in
        // Guests can reach the socket; the daemon decides what it answers them.
        chmod(daemon.directory.path, 0o755)
        try await body(daemon, users.map { Guest(daemon: daemon, uid: $0.uid, root: $0.root) })
    }
}

/// A daemon that admits one guest.
func withGuest(
    _ options: DaemonFixture.Options = DaemonFixture.Options(), _ body: (DaemonFixture, Guest) async throws -> Void
) async throws {
    try await withGuests(1, options) { daemon, guests in try await body(daemon, guests[0]) }
}

extension Guest {
    /// An error's code and the field it names.
    struct Refusal: Hashable, CustomStringConvertible {
        var code: Int64
        var path: String?

        static let methodOfOperators = Refusal(code: -32003, path: nil)

        var description: String { "\(code) \(path ?? "")" }
    }

    /// A program that calls over HTTP and shows errors whole.
    static let curl = Command.find("curl")

    /// Posts a call as this user and gives the answer.
    func post(_ method: String, _ params: JSONValue) async throws -> JSONValue {
        let launcher = ["--reuid=\(uid)", "--regid=\(uid)", "--clear-groups"]
        return try await daemon.post(
            method, params, [try #require(Command.find("setpriv"))] + launcher + [try #require(Self.curl)])
    }
}

extension DaemonFixture {
    /// Posts a call as the operator that runs the test and gives the answer.
    func post(_ method: String, _ params: JSONValue) async throws -> JSONValue {
        let body = Self.message(method, params)
        let client = try UnixSocket(connectedTo: socket)
        try await client.send(
            "POST /rpc HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nConnection: close\r\n"
                + "Content-Length: \(body.utf8.count)\r\n\r\n\(body)")
        let answer = try await client.readToEnd()
        guard let end = answer.firstRange(of: "\r\n\r\n") else { throw TimedOut("\(method): \(answer)") }
        return try JSONValue(parsing: Array(answer[end.upperBound...].utf8))
    }

    /// Posts a call through a program, the last of this command line, and gives the answer.
    fileprivate func post(_ method: String, _ params: JSONValue, _ program: [String]) async throws -> JSONValue {
        let ended = try await Command.run(
            program[0],
            Array(program.dropFirst()) + [
                "--silent", "--unix-socket", socket, "--header", "Content-Type: application/json", "--data-binary",
                Self.message(method, params), "http://localhost/rpc",
            ], directory: "/")
        guard ended.isSuccess else { throw TimedOut("\(method): \(ended)") }
        return try JSONValue(parsing: Array(ended.output.utf8))
    }

    private static func message(_ method: String, _ params: JSONValue) -> String {
        let message: JSONValue = ["jsonrpc": "2.0", "id": 1, "method": .string(method), "params": params]
        return message.text
    }
}

extension JSONValue {
    /// What an answer refuses; nil if it has a result.
    var refusal: Guest.Refusal? {
        guard let error = self["error"] else { return nil }
        return Guest.Refusal(code: error["code"]?.integerValue ?? 0, path: error["data"]?["path"]?.stringValue)
    }
}
