import StrictJSON
import Testing
import XferTestSupport

/// A daemon that listens on a port of an address, and is called at 127.0.0.1.
struct RemoteDaemon {
    let daemon: DaemonFixture
    let port: Int
    let scheme: String

    init(address: String = "127.0.0.1", more: String = "", scheme: String = "http") async throws {
        port = try FreePort.any()
        self.scheme = scheme
        var options = DaemonFixture.Options()
        options.arguments = ["--set", "listen=[{address: '\(address):\(port)'\(more)}]"]
        daemon = try DaemonFixture(options)
        try await daemon.start()
        try await isListening()
    }

    /// Listens with TLS for `localhost`; the authority is in `ca.pem` of the directory.
    static func encrypted(_ files: TemporaryDirectory) async throws -> RemoteDaemon {
        let authority = try TestCA(name: "first")
        let leaf = try authority.issue()
        try FileTree.write(leaf.privateKey, to: files.file("key.pem"))
        try FileTree.write(authority.chain(for: leaf), to: files.file("cert.pem"))
        try FileTree.write(authority.pem, to: files.file("ca.pem"))
        let tls = "tls: {certificate: \(files.file("cert.pem")), key: \(files.file("key.pem"))}"
        return try await RemoteDaemon(more: ", " + tls, scheme: "https")
    }

    func isListening() async throws {
        try await eventually("the daemon listens") {
            try await status("/healthz", nil, ["--insecure"]) == "200"
        }
    }

    /// Makes a token over the Unix socket.
    func token(_ name: String, _ scope: String, expiresAt: JSONValue? = nil) async throws -> String {
        var params: JSONObject = ["name": .string(name), "scope": .string(scope)]
        if let expiresAt { params["expires_at"] = expiresAt }
        let answer = try await daemon.post("token.add", .object(params))
        return try #require(answer["result"]?["secret"]?.stringValue, "\(answer.text)")
    }

    func call(_ method: String, _ params: JSONValue, _ token: String) async throws -> JSONValue {
        let message: JSONValue = ["jsonrpc": "2.0", "id": 1, "method": .string(method), "params": params]
        let ended = try await Command.run(
            try #require(Guest.curl),
            [
                "--silent", "--header", "Authorization: Bearer \(token)", "--header", "Content-Type: application/json",
                "--data-binary", message.text, "\(scheme)://127.0.0.1:\(port)/rpc",
            ])
        guard ended.isSuccess else { throw TimedOut("\(method): \(ended)") }
        return try JSONValue(parsing: Array(ended.output.utf8))
    }

    /// Status and type of the answer, whose body goes to a file.
    func fetch(_ path: String, _ token: String, to file: String, _ arguments: [String] = []) async throws -> String {
        try await Command.run(
            try #require(Guest.curl),
            [
                "--silent", "--output", file, "--write-out", "%{http_code} %{content_type}", "--header",
                "Authorization: Bearer \(token)",
            ] + arguments + ["\(scheme)://localhost:\(port)\(path)"]
        ).output
    }

    /// The status that a `GET` is answered with; 000 without an answer.
    func status(_ path: String, _ token: String?, _ arguments: [String] = []) async throws -> String {
        let header = token.map { ["--header", "Authorization: Bearer \($0)"] } ?? []
        return try await Command.run(
            try #require(Guest.curl),
            ["--silent", "--output", "/dev/null", "--write-out", "%{http_code}"] + header + arguments + [
                "\(scheme)://localhost:\(port)\(path)"
            ]
        ).output
    }
}
