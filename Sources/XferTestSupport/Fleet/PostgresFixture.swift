import Glibc
import NIOConcurrencyHelpers

/// A private PostgreSQL in a temporary directory, on a Unix socket and on a free port of 127.0.0.1, both without a
/// password. It can be killed and started again; what it has committed stays.
public final class PostgresFixture: Sendable {
    /// The directory of Debian's programs of the newest version; nil if there are none.
    public static let programs: String? = {
        let versions = (try? FileTree.names(in: "/usr/lib/postgresql")) ?? []
        guard let newest = versions.compactMap({ Int($0, radix: 10) }).max() else { return nil }
        let directory = "/usr/lib/postgresql/\(newest)/bin"
        return FileTree.exists(directory + "/initdb") ? directory : nil
    }()

    public let port: Int
    private let directory: TemporaryDirectory
    private let running = NIOLockedValueBox<ChildProcess?>(nil)

    /// A cluster with the database and the role `xfer`, started.
    public init() async throws {
        directory = try TemporaryDirectory("xfer-postgres")
        port = try FreePort.any()
        let data = try directory.makeDirectory("data", mode: 0o700)
        // PostgreSQL does not run as root.
        guard let owner = Self.account else { throw TimedOut("there is no user for PostgreSQL") }
        chmod(directory.path, 0o755)
        if getuid() == 0 {
            chown(data, owner.uid, owner.gid)
            chown(directory.path, owner.uid, owner.gid)
        }
        let made = try await Self.run(
            "initdb", ["-D", data, "-U", "xfer", "--auth=trust", "--no-locale", "-E", "UTF8", "--no-sync"],
            in: directory.path)
        guard made.isSuccess else { throw TimedOut("initdb: \(made)") }
        try await start()
        let created = try await Self.run(
            "createdb", ["-h", directory.path, "-p", "\(port)", "-U", "xfer", "xfer"], in: directory.path)
        guard created.isSuccess else { throw TimedOut("createdb: \(created)") }
    }

    /// The address for libpq: over the socket, or over TCP to `port`.
    public func address(port other: Int? = nil) -> String {
        guard let other else { return "host=\(directory.path) port=\(port) user=xfer dbname=xfer" }
        return "host=127.0.0.1 port=\(other) user=xfer dbname=xfer sslmode=disable"
    }

    public var log: String { (try? FileTree.text(directory.file("log"))) ?? "" }

    /// Starts the server and returns when it answers.
    public func start() async throws {
        var options = ChildProcess.Options()
        options.output = directory.file("log")
        options.errors = directory.file("log")
        options.directory = directory.path
        try await eventually("PostgreSQL answers", within: Patience.limit) {
            // After a kill, processes of the server before may hold its memory for a moment.
            if running.withLockedValue({ $0?.isRunning }) != true {
                let command = try Self.command(
                    "postgres",
                    [
                        "-D", directory.file("data"), "-k", directory.path, "-p", "\(port)", "-c",
                        "listen_addresses=127.0.0.1", "-c", "max_connections=200",
                    ])
                let process = try ChildProcess(command[0], Array(command.dropFirst()), options: options)
                running.withLockedValue { $0 = process }
            }
            let ready = try await Self.run(
                "pg_isready", ["-q", "-h", directory.path, "-p", "\(port)"], in: directory.path)
            return ready.isSuccess
        }
    }

    /// SIGKILL to the server; its sessions end by themselves.
    public func kill9() async { await end(SIGKILL) }

    /// A fast shutdown.
    public func stop() async { await end(SIGINT) }

    private func end(_ signal: Int32) async {
        guard let process = running.withLockedValue({ $0 }) else { return }
        process.signal(signal)
        await process.exit()
        running.withLockedValue { $0 = nil }
    }

    /// What psql(1) prints for a statement, without headings.
    public func query(_ statement: String) async throws -> String {
        let result = try await Self.run(
            "psql", ["-h", directory.path, "-p", "\(port)", "-U", "xfer", "-d", "xfer", "-qtAc", statement],
            in: directory.path)
        guard result.isSuccess else { throw TimedOut("psql: \(result)") }
        return result.output
    }

    deinit { running.withLockedValue { $0 }?.signal(SIGQUIT) }

    private static var account: (uid: uid_t, gid: gid_t)? {
        guard getuid() == 0 else { return (getuid(), getgid()) }
        for name in ["postgres", "nobody"] {
            if let entry = getpwnam(name) { return (entry.pointee.pw_uid, entry.pointee.pw_gid) }
        }
        return nil
    }

    /// The program, as another user if this one is root.
    private static func command(_ program: String, _ arguments: [String]) throws -> [String] {
        guard let programs else { throw TimedOut("PostgreSQL is not installed: apt-get install postgresql") }
        let command = ["\(programs)/\(program)"] + arguments
        guard getuid() == 0, let account else { return command }
        return ["/usr/bin/setpriv", "--reuid=\(account.uid)", "--regid=\(account.gid)", "--clear-groups"] + command
    }

    private static func run(_ program: String, _ arguments: [String], in directory: String) async throws
        -> Command.Result
    {
        let command = try command(program, arguments)
        return try await Command.run(
            command[0], Array(command.dropFirst()), environment: ["PATH": "/usr/bin:/bin", "LC_ALL": "C"],
            directory: directory)
    }
}
