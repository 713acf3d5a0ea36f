import Glibc
import StrictJSON
import Testing
import XferTestSupport

/// `xferctl add` where no daemon runs: a user without a session, as in containers, under cron and after su.
@Suite struct ClientStartTests {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory("home") }

    private func ctl(_ arguments: String...) async throws -> Command.Result {
        var environment = [
            "PATH": "/usr/bin:/bin", "HOME": home.path, "XDG_RUNTIME_DIR": home.file("no-session"),
            "LC_ALL": "C.UTF-8", "XFERD_DOWNLOAD_RESERVE": "1Mi",
        ]
        environment.merge(Command.sanitizerOptions) { $1 }
        return try await Command.run(
            "\(Command.productsDirectory)/xferctl", arguments, environment: environment, directory: home.path)
    }

    /// Whether this machine lets `xferctl` start a daemon: not root's beside systemd, and no daemon of the system's.
    private var isPossible: Bool {
        !FileTree.exists("/run/xferd/xferd.sock") && (geteuid() != 0 || !FileTree.exists("/run/systemd/system"))
    }

    @Test func anAddWithoutADaemonStartsOneWhichIsShownLoggedAndStopped() async throws {
        guard isPossible else { return }
        let server = try await FaultServer()
        let source = SourceVersion.tagged(193, length: 1000)
        server.serve("/f", source)
        let added = try await ctl("add", "--wait", "-o", "f", server.url("/f"))
        let socket = home.file(".local/state/xferd/xferd.sock")
        let status = try await ctl("daemon", "status")
        let log = try await ctl("daemon", "log")
        let again = try await ctl("daemon", "start")
        let stopped = try await ctl("daemon", "stop")
        #expect(added.isSuccess && added.errors.contains("no daemon ran: started xferd for you"), "\(added)")
        #expect(try source.equals(file: home.file("f")))
        #expect(status.isSuccess && status.output.contains(socket), "\(status)")
        #expect(status.output.contains("no service manager"), "\(status)")
        #expect(log.output.contains("ready socket=\(socket)"), "\(log)")
        #expect(FileTree.mode(home.file(".local/state/xferd/xferd.log")) == 0o600)
        #expect(FileTree.mode(home.file(".local/state/xferd")) == 0o700)
        #expect(again.isSuccess && again.output.contains("it runs"), "\(again)")
        #expect(stopped.isSuccess && stopped.output.contains("stopped"), "\(stopped)")
        // Stopped: the next command that adds nothing starts none, and says how to.
        let after = try await ctl("list")
        #expect(after.exit == .code(4) && after.errors.contains("xferctl daemon start"), "\(after)")
    }

    @Test func noDaemonIsStartedWhereThatIsForbidden() async throws {
        guard isPossible else { return }
        let refused = try await ctl("add", "--no-start", "http://127.0.0.1:9/f")
        #expect(refused.exit == .code(4) && !FileTree.exists(home.file(".local")), "\(refused)")
        _ = mkdir(home.file(".config"), 0o755)
        _ = mkdir(home.file(".config/xferd"), 0o755)
        try FileTree.write("client: { start: never }\n", to: home.file(".config/xferd/config.yaml"))
        let never = try await ctl("add", "http://127.0.0.1:9/f")
        #expect(never.exit == .code(4) && never.errors.contains("client.start: never"), "\(never)")
        #expect(!FileTree.exists(home.file(".local")))
    }

    @Test func aStartThatFailsSaysWhy() async throws {
        guard isPossible else { return }
        _ = mkdir(home.file(".config"), 0o755)
        _ = mkdir(home.file(".config/xferd"), 0o755)
        try FileTree.write("queue: { max_active: many }\n", to: home.file(".config/xferd/config.yaml"))
        let result = try await ctl("add", "http://127.0.0.1:9/f")
        #expect(result.exit == .code(4) && result.errors.contains("queue.max_active"), "\(result)")
    }
}
