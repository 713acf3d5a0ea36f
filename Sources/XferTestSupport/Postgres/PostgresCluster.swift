import Glibc
import NIOConcurrencyHelpers

/// A private PostgreSQL server on a Unix socket, with its data in a temporary directory. It ends with the last
/// reference, and can be killed and started again before.
///
/// It syncs like a real server: kills cost no answer. root may not run PostgreSQL, so root runs it as `postgres`.
public final class PostgresCluster: Sendable {
    /// Directory of the newest server's programs; nil when none is installed.
    public static let programs: String? = {
        let root = "/usr/lib/postgresql"
        let versions = ((try? FileTree.names(in: root)) ?? []).compactMap { Int($0) }.filter { $0 >= 15 }.sorted()
        return versions.reversed().map { "\(root)/\($0)/bin" }.first { access("\($0)/postgres", X_OK) == 0 }
    }()

    /// A superuser that the Unix socket admits without a password.
    public static let user = "fleet"
    /// Part of the socket's name, and the port if the cluster listens on a network.
    public let port: Int
    /// Directory of the Unix socket: the `host` for libpq.
    public var host: String { directory.path }
    /// The address on which it listens in addition to the Unix socket.
    private let address: String?
    private let directory: TemporaryDirectory
    /// The server and its arguments.
    private let command: [String]
    private let process = NIOLockedValueBox<ChildProcess?>(nil)

    /// - Parameters:
    ///   - settings: of the server, for example `fsync: off`.
    ///   - password: of the user over TCP on 127.0.0.1; nil listens only on the Unix socket.
    ///   - address: of a bridge, whose network gets in without a password.
    ///   - copying: a data directory that is copied instead of making a new one; its server is stopped or it is a
    ///     backup.
    public init(
        _ settings: [String: String] = [:], password: String? = nil, address: String? = nil, copying data: String? = nil
    ) async throws {
        guard let programs = Self.programs else {
            throw TimedOut("PostgreSQL is not installed: apt-get install postgresql")
        }
        let directory = try TemporaryDirectory("xfer-postgres", in: TemporaryDirectory.memory)
        try Self.give(directory.path)
        self.directory = directory
        self.address = address ?? (password == nil ? nil : "127.0.0.1")
        port = self.address == nil ? 5432 : try FreePort.any()
        if let data {
            try await Self.run("/bin/cp", ["-a", data, directory.file("data")])
        } else {
            try await Self.initialise(programs, directory, password)
        }
        if let address {
            let rules = directory.file("data/pg_hba.conf")
            try FileTree.write(try FileTree.text(rules) + "host all all \(address)/24 trust\n", to: rules)
        }
        var all = settings
        all["unix_socket_directories"] = directory.path
        all["listen_addresses"] = self.address ?? ""
        all["port"] = String(port)
        all["shared_buffers"] = settings["shared_buffers"] ?? "32MB"
        // Compiling the statements of small tables takes longer than running them.
        all["jit"] = "off"
        all["max_connections"] = settings["max_connections"] ?? "60"
        let arguments =
            ["-D", directory.file("data")]
            + all.sorted { $0.key < $1.key }.flatMap {
                ["-c", "\($0.key)=\($0.value)"]
            }
        command = Self.unprivileged("\(programs)/postgres", arguments)
        try await start()
    }

    deinit { process.withLockedValue { $0 }?.signal(SIGQUIT) }

    /// Returns when the server answers.
    public func start() async throws {
        guard let programs = Self.programs else { return }
        var options = ChildProcess.Options()
        options.output = directory.file("log")
        options.errors = directory.file("log")
        options.directory = directory.path
        let fresh = options
        // After a kill, processes of the server before may hold its memory for a moment: then it is tried again.
        do {
            try await eventually("PostgreSQL answers") {
                if process.withLockedValue({ $0?.isRunning }) != true {
                    let started = try ChildProcess(command[0], Array(command.dropFirst()), options: fresh)
                    process.withLockedValue { $0 = started }
                }
                let answer = try await Command.run(
                    "\(programs)/pg_isready", ["-q", "-h", host, "-p", String(port), "-U", Self.user, "-d", "postgres"])
                return answer.isSuccess
            }
        } catch { throw TimedOut("\(error): \(log)") }
    }

    /// Kills the server with SIGKILL; its sessions then end.
    public func kill9() async { await end(SIGKILL) }

    /// A fast shutdown.
    public func stop() async { await end(SIGINT) }

    private func end(_ signal: Int32) async {
        guard let ending = process.withLockedValue({ $0 }) else { return }
        ending.signal(signal)
        await ending.exit()
        process.withLockedValue { $0 = nil }
    }

    /// The server's log.
    public var log: String { (try? FileTree.text(directory.file("log"))) ?? "" }

    /// The directory of its data.
    public var data: String { directory.file("data") }

    /// A connection string for one of its databases.
    public func connection(_ database: String = "postgres") -> String {
        "host=\(host) port=\(port) user=\(Self.user) dbname=\(database)"
    }

    /// The same over TCP.
    public func networkConnection(_ database: String = "postgres") -> String {
        "host=\(address ?? "127.0.0.1") port=\(port) user=\(Self.user) dbname=\(database) sslmode=disable"
    }

    /// Makes an empty database.
    public func makeDatabase(_ name: String) async throws {
        guard let programs = Self.programs else { return }
        try await Self.run("\(programs)/createdb", ["-h", host, "-p", String(port), "-U", Self.user, name])
    }

    /// Runs a statement with psql and returns its output.
    @discardableResult
    public func sql(_ statement: String, in database: String = "postgres") async throws -> String {
        guard let programs = Self.programs else { return "" }
        return try await Self.run(
            "\(programs)/psql",
            [
                "-X", "-A", "-t", "-q", "-v", "ON_ERROR_STOP=1", "-h", host, "-p", String(port), "-U", Self.user, "-d",
                database, "-c", statement,
            ])
    }

    /// A copy of the present data, like a standby's (`pg_basebackup`), for `copying`. Created in `parent`.
    public func backup(in parent: TemporaryDirectory) async throws -> String {
        guard let programs = Self.programs else { return "" }
        let copy = parent.file("backup")
        try await Self.run(
            "\(programs)/pg_basebackup",
            ["-h", host, "-p", String(port), "-U", Self.user, "-D", copy, "-X", "stream", "-c", "fast", "--no-sync"])
        try await Self.run("/bin/chown", ["-R", "postgres:postgres", copy])
        return copy
    }

    private static func initialise(_ programs: String, _ directory: TemporaryDirectory, _ password: String?)
        async throws
    {
        var arguments = [
            "-D", directory.file("data"), "-U", user, "-E", "UTF8", "--locale=C.UTF-8", "--no-sync",
            "--auth-local=trust",
            "--auth-host=scram-sha-256",
        ]
        if let password {
            try FileTree.write(password, to: directory.file("password"))
            try give(directory.file("password"))
            arguments.append("--pwfile=\(directory.file("password"))")
        } else {
            arguments[arguments.count - 1] = "--auth-host=reject"
        }
        let command = unprivileged("\(programs)/initdb", arguments)
        try await run(command[0], Array(command.dropFirst()))
    }

    private static func unprivileged(_ program: String, _ arguments: [String]) -> [String] {
        guard getuid() == 0 else { return [program] + arguments }
        let setpriv = Command.find("setpriv") ?? "/usr/bin/setpriv"
        return [setpriv, "--reuid=postgres", "--regid=postgres", "--clear-groups", program] + arguments
    }

    /// The server's user gets a file that root made.
    private static func give(_ path: String) throws {
        guard getuid() == 0 else { return }
        guard let entry = getpwnam("postgres") else { throw PosixError("getpwnam postgres") }
        guard chown(path, entry.pointee.pw_uid, entry.pointee.pw_gid) == 0 else { throw PosixError("chown \(path)") }
    }

    @discardableResult
    private static func run(_ program: String, _ arguments: [String]) async throws -> String {
        let result = try await Command.run(program, arguments, directory: "/")
        guard result.isSuccess else { throw TimedOut("\(program): \(result)") }
        return result.output
    }
}
