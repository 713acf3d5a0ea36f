import Glibc
import NIOConcurrencyHelpers

/// A private nginx on free ports of 127.0.0.1 that offers one directory over http and, given a certificate, over https
/// with HTTP/2. It writes only to a temporary directory and is killed when the last reference is released.
public final class NginxFixture: Sendable {
    /// The options of the server.
    public struct Options: Sendable {
        /// The directory of the served files; a new directory unless set.
        public var root: String?
        /// The certificate chain and the private key for https, as PEM.
        public var tls: (chain: String, privateKey: String)?
        /// True if https is also offered on `::1`.
        public var listensOnIPv6 = false
        /// Bytes per second for each connection; 0 is unlimited.
        public var limitRate: Int64 = 0
        /// The addresses for http, with IPv6 addresses in brackets. https uses 127.0.0.1 and, if enabled, `::1`.
        public var addresses = ["127.0.0.1"]
        /// A program, with its arguments, that executes nginx; empty starts nginx directly.
        public var launcher: [String] = []
        /// A server on this port of 127.0.0.1 that answers in nginx's place, byte by byte as it does.
        public var backend: Int?
        /// Further directives for the server block, for example a `location` that redirects or requires a password.
        public var directives = ""

        public init() {}
    }

    /// One finished request as nginx logged it.
    public struct LogLine: Sendable {
        public let status: Int
        /// The number of body bytes that nginx passed to the kernel.
        public let bodyBytes: Int64
        /// Serial number of the connection.
        public let connection: Int
        /// The version: `HTTP/1.1` or `HTTP/2.0`.
        public let httpVersion: String
        public let target: String
        /// The `Range` field, `-` without one.
        public let range: String
    }

    /// True if nginx is installed here.
    public static var isInstalled: Bool { Command.find("nginx") != nil }

    public let httpPort: Int
    public let httpsPort: Int
    /// Directory of the served files.
    public let root: String
    private let directory: TemporaryDirectory
    private let process: ChildProcess

    public init(_ options: Options = Options()) async throws {
        guard let nginx = Command.find("nginx") else {
            throw TimedOut("nginx is not installed: apt-get install nginx-light")
        }
        let directory = try TemporaryDirectory("xfer-nginx")
        root = try options.root ?? directory.makeDirectory("root")
        if let tls = options.tls {
            try FileTree.write(tls.chain, to: directory.file("chain.pem"))
            try FileTree.write(tls.privateKey, to: directory.file("key.pem"), mode: 0o600)
        }
        // Another process may take a port before nginx binds it. Then other ports are tried.
        var attempt = 0
        while true {
            let ports = (try FreePort.any(), try FreePort.any())
            try FileTree.write(Self.configuration(options, root, directory, ports), to: directory.file("nginx.conf"))
            if let started = try await Self.start(options.launcher + [nginx], directory) {
                (httpPort, httpsPort) = ports
                process = started
                break
            }
            attempt += 1
            guard attempt < 5 else {
                throw TimedOut("nginx does not start: \((try? FileTree.text(directory.file("output"))) ?? "")")
            }
        }
        self.directory = directory
    }

    /// `http://127.0.0.1:port` and the path.
    public func url(_ path: String) -> String { "http://127.0.0.1:\(httpPort)\(path)" }

    /// `https://localhost:port` and the path.
    public func secureURL(_ path: String) -> String { "https://localhost:\(httpsPort)\(path)" }

    /// Puts a file into the served directory.
    public func publish(_ version: SourceVersion, as name: String) throws {
        try version.write(to: "\(root)/\(name)")
    }

    /// The requests that have ended, in the order of their ends.
    public var log: [LogLine] {
        get throws {
            guard FileTree.exists(directory.file("access.log")) else { return [] }
            return try FileTree.text(directory.file("access.log")).split(separator: "\n").compactMap(LogLine.init)
        }
    }

    /// Ends the server when its requests have ended, and returns all of them: the log follows the answers.
    public func finish() async throws -> [LogLine] {
        process.signal(SIGQUIT)
        await process.exit()
        return try log
    }

    /// Stops the server and waits until it has ended.
    public func stop() async {
        process.signal(SIGTERM)
        await process.exit()
    }

    private static func start(_ command: [String], _ directory: TemporaryDirectory) async throws -> ChildProcess? {
        FileTree.remove(directory.file("nginx.pid"))
        var options = ChildProcess.Options()
        options.output = directory.file("output")
        options.errors = directory.file("output")
        let arguments =
            command.dropFirst() + [
                "-p", directory.path, "-c", directory.file("nginx.conf"), "-e", directory.file("error.log"),
            ]
        let process = try ChildProcess(command[0], Array(arguments), options: options)
        // nginx writes its pid file after it has bound the ports.
        try await eventually("nginx starts") {
            !process.isRunning || (FileTree.size(directory.file("nginx.pid")) ?? 0) > 0
        }
        return process.isRunning ? process : nil
    }

    private static func configuration(
        _ options: Options, _ root: String, _ directory: TemporaryDirectory, _ ports: (http: Int, https: Int)
    ) -> String {
        let temporary = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"]
            .map { "\($0)_temp_path \(directory.file($0));" }.joined(separator: " ")
        let tls =
            options.tls == nil
            ? ""
            : """
            listen 127.0.0.1:\(ports.https) ssl http2;
            \(options.listensOnIPv6 ? "listen [::1]:\(ports.https) ssl http2;" : "")
            ssl_certificate \(directory.file("chain.pem"));
            ssl_certificate_key \(directory.file("key.pem"));
            """
        let proxy =
            options.backend.map {
                "location / { proxy_pass http://127.0.0.1:\($0); proxy_http_version 1.1; "
                    + "proxy_set_header Connection \"\"; proxy_buffering off; }"
            } ?? ""
        return """
            \(getuid() == 0 ? "user root;" : "")
            daemon off;
            master_process off;
            worker_rlimit_nofile 8192;
            pid \(directory.file("nginx.pid"));
            events { worker_connections 4096; }
            http {
                log_format lines '$status $body_bytes_sent $connection $server_protocol $request_uri $http_range';
                access_log \(directory.file("access.log")) lines;
                \(temporary)
                default_type application/octet-stream;
                sendfile on;
                keepalive_requests 1000000;
                server {
                    \(options.addresses.map { "listen \($0):\(ports.http);" }.joined(separator: " "))
                    \(tls)
                    root \(root);
                    limit_rate \(options.limitRate);
                    \(proxy)
                    \(options.directives)
                }
            }
            """
    }
}

extension NginxFixture.LogLine {
    fileprivate init?(_ line: Substring) {
        let parts = line.split(separator: " ", maxSplits: 5).map(String.init)
        guard parts.count == 6, let status = Int(parts[0]), let bytes = Int64(parts[1]), let connection = Int(parts[2])
        else { return nil }
        self.init(
            status: status, bodyBytes: bytes, connection: connection, httpVersion: parts[3], target: parts[4],
            range: parts[5])
    }
}
