import Glibc

/// A private PgBouncer in transaction mode before a server, on a Unix socket. It ends with the last reference.
public final class PgBouncer: Sendable {
    /// True if pgbouncer is installed on this machine.
    public static var isInstalled: Bool { Command.find("pgbouncer") != nil }

    /// The `host` for libpq.
    public var host: String { directory.path }
    private let directory: TemporaryDirectory
    private let process: ChildProcess

    /// - Parameter pool: connections to the server.
    public init(before cluster: PostgresCluster, pool: Int = 2) async throws {
        guard let program = Command.find("pgbouncer") else {
            throw TimedOut("PgBouncer is not installed: apt-get install pgbouncer")
        }
        let directory = try TemporaryDirectory("xfer-pgbouncer")
        chmod(directory.path, 0o755)
        try FileTree.write("\"\(PostgresCluster.user)\" \"\"\n", to: directory.file("users"))
        try FileTree.write(
            """
            [databases]
            * = host=\(cluster.host) port=\(cluster.port) user=\(PostgresCluster.user)
            [pgbouncer]
            listen_addr =
            listen_port = 5432
            unix_socket_dir = \(directory.path)
            auth_type = trust
            auth_file = \(directory.file("users"))
            pool_mode = transaction
            default_pool_size = \(pool)
            max_client_conn = 100
            logfile = \(directory.file("log"))

            """, to: directory.file("pgbouncer.ini"))
        var command = [program, directory.file("pgbouncer.ini")]
        if getuid() == 0 {
            guard let entry = getpwnam("postgres") else { throw PosixError("getpwnam postgres") }
            chown(directory.path, entry.pointee.pw_uid, entry.pointee.pw_gid)
            for name in ["users", "pgbouncer.ini"] {
                chown(directory.file(name), entry.pointee.pw_uid, entry.pointee.pw_gid)
            }
            command.insert(contentsOf: ["-u", "postgres"], at: 1)
        }
        var options = ChildProcess.Options()
        options.output = directory.file("output")
        options.errors = directory.file("output")
        let process = try ChildProcess(command[0], Array(command.dropFirst()), options: options)
        (self.directory, self.process) = (directory, process)
        try await eventually("PgBouncer listens") {
            guard process.isRunning else {
                throw TimedOut("PgBouncer does not start: \((try? FileTree.text(directory.file("output"))) ?? "")")
            }
            return access(directory.file(".s.PGSQL.5432"), F_OK) == 0
        }
    }

    deinit { process.signal(SIGTERM) }

    /// A connection string for one of the server's databases.
    public func connection(_ database: String) -> String {
        "host=\(host) port=5432 user=\(PostgresCluster.user) dbname=\(database)"
    }
}
