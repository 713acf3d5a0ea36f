import Glibc

/// A private tinyproxy on a free port of 127.0.0.1: an http proxy that is not ours. It ends with the last reference.
public final class TinyproxyFixture: Sendable {
    /// True if tinyproxy is installed here.
    public static var isInstalled: Bool { Command.find("tinyproxy") != nil }

    public let port: Int
    private let directory: TemporaryDirectory
    private let process: ChildProcess

    /// - Parameter login: user and password that clients have to show.
    public init(login: (user: String, password: String)? = nil) async throws {
        guard let program = Command.find("tinyproxy") else {
            throw TimedOut("tinyproxy is not installed: apt-get install tinyproxy-bin")
        }
        let directory = try TemporaryDirectory("xfer-tinyproxy")
        var attempt = 0
        while true {
            let port = try FreePort.any()
            let configuration = """
                \(getuid() == 0 ? "User root\nGroup root" : "")
                Port \(port)
                Listen 127.0.0.1
                Timeout 60
                LogFile "\(directory.file("log"))"
                LogLevel Info
                MaxClients 50
                Allow 127.0.0.1
                \(login.map { "BasicAuth \($0.user) \($0.password)" } ?? "")

                """
            try FileTree.write(configuration, to: directory.file("tinyproxy.conf"))
            let process = try ChildProcess(program, ["-d", "-c", directory.file("tinyproxy.conf")])
            // tinyproxy writes this line once it listens.
            try await eventually("tinyproxy starts") {
                let log = (try? FileTree.text(directory.file("log"))) ?? ""
                return !process.isRunning || log.contains("Accepting connections")
            }
            if process.isRunning {
                (self.port, self.process) = (port, process)
                break
            }
            attempt += 1
            guard attempt < 5 else {
                throw TimedOut("tinyproxy does not start: \((try? FileTree.text(directory.file("log"))) ?? "")")
            }
        }
        self.directory = directory
    }

    public var url: String { "http://127.0.0.1:\(port)" }

    /// Its log: a line `Request … CONNECT host:port` or `Request … GET http://…` for each request.
    public var log: String { (try? FileTree.text(directory.file("log"))) ?? "" }
}
