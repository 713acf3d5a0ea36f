import Glibc
import NIOConcurrencyHelpers
import StrictJSON

/// The real `xferd`, built together with the running tests, with a state directory, configuration, socket and download
/// directory of its own.
///
/// A test can kill, end and start it as often as needed; its directories stay. Its environment contains only PATH and
/// the variables that are set here.
public final class DaemonFixture: Sendable {
    /// The options with which a daemon is started.
    public struct Options: Sendable {
        /// Values of the configuration by section and key, as YAML text: `["queue": ["max_active": "1"]]`. They win
        /// over the fixture's own: small reserve, the download directory the only root, fixed limits.
        public var settings: [String: [String: String]] = [:]
        public var environment: [String: String] = [:]
        public var arguments: [String] = []
        /// A program that replaces itself by `xferd`, with arguments, for example `nsenter`.
        public var launcher: [String] = []
        /// The configuration that is written instead of one made of `settings`.
        public var configuration: String?
        /// Directories on another file system, to download to and for the database.
        public var downloads: String?
        public var stateDirectory: String?

        public init(settings: [String: [String: String]] = [:]) { self.settings = settings }
    }

    /// The directory of all other files.
    public let directory: TemporaryDirectory
    public let downloads: String
    public let stateDirectory: String
    /// Every message of every session.
    public let transcript: Transcript
    private let options: Options
    private let notify: NotifySocket
    private let running = NIOLockedValueBox<ChildProcess?>(nil)

    /// Prepares the directories and the configuration; `start` starts the daemon.
    public init(_ options: Options = Options()) throws {
        directory = try TemporaryDirectory("xferd")
        transcript = try Transcript()
        self.options = options
        downloads = try options.downloads ?? directory.makeDirectory("downloads")
        stateDirectory = try options.stateDirectory ?? directory.makeDirectory("state", mode: 0o700)
        notify = try NotifySocket(path: directory.file("notify"))
        try configure(options.settings)
    }

    public var socket: String { directory.file("xferd.sock") }
    public var configurationFile: String { directory.file("config.yaml") }
    public var logFile: String { directory.file("log") }

    /// The output of all daemons of this fixture.
    public var log: String { (try? FileTree.text(logFile)) ?? "" }

    /// The daemon's process, nil when none runs.
    public var process: ChildProcess? { running.withLockedValue { $0 } }

    /// The daemon's messages to the service manager since its last start.
    public var notifications: [String] { notify.messages }

    /// Writes the configuration again, for the next start or a reload.
    public func configure(_ settings: [String: [String: String]]) throws {
        if let text = options.configuration { return try FileTree.write(text, to: configurationFile) }
        var merged = [
            "download": [
                "dir": "\"\(downloads)\"", "roots": "[\"\(downloads)\"]", "reserve": "1Mi",
            ],
            "log": ["level": "info", "format": "text"], "queue": ["max_active": "6", "max_active_per_host": "4"],
        ]
        for (section, values) in settings { merged[section, default: [:]].merge(values) { $1 } }
        let lines = merged.sorted { $0.key < $1.key }.map { section, values in
            "\(section):\n" + values.sorted { $0.key < $1.key }.map { "  \($0): \($1)\n" }.joined()
        }
        try FileTree.write(lines.joined(), to: configurationFile)
    }

    /// Environment of the daemon and of `xferctl`.
    public var environment: [String: String] {
        var environment = [
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME": directory.path,
            "XDG_RUNTIME_DIR": directory.path, "LC_ALL": "C.UTF-8", "XFERD_SOCKET": socket,
            "XFER_CHECK_INVARIANTS": "1",
        ]
        environment.merge(Command.sanitizerOptions) { $1 }
        environment.merge(options.environment) { $1 }
        return environment
    }

    /// The arguments the daemon is started with.
    public var arguments: [String] {
        ["--config", configurationFile, "--state-dir", stateDirectory, "--socket", socket, "--foreground-log"]
            + options.arguments
    }

    /// Starts the daemon and returns when it reports that it is ready.
    public func start() async throws {
        notify.clear()
        var options = ChildProcess.Options()
        options.environment = environment.merging(["NOTIFY_SOCKET": notify.path]) { $1 }
        options.output = logFile
        options.errors = logFile
        let command = try self.options.launcher + ["\(Command.productsDirectory)/xferd"] + arguments
        let process = try ChildProcess(command[0], Array(command.dropFirst()), options: options)
        running.withLockedValue { $0 = process }
        try await eventually("xferd is ready") {
            guard process.isRunning else { throw TimedOut("xferd ended at its start: \(log.suffix(4000))") }
            return notify.messages.contains("READY=1")
        }
    }

    /// Sends SIGKILL, and waits until the process has ended.
    public func kill9() async { await end(SIGKILL) }

    /// Sends SIGTERM; returns the exit and the time that it took.
    @discardableResult
    public func terminate() async -> (exit: ChildProcess.Exit?, took: Duration) {
        let begin = ContinuousClock.now
        let exit = await end(SIGTERM)
        return (exit, ContinuousClock.now - begin)
    }

    /// Ends the daemon like systemd, and throws unless it ended properly.
    public func stop() async throws {
        let exit = await terminate().exit
        guard exit == .code(0) else {
            throw TimedOut("xferd ended with \(String(describing: exit)): \(log.suffix(4000))")
        }
    }

    /// The service manager's SIGHUP: read the configuration again.
    public func reload() { process?.signal(SIGHUP) }

    @discardableResult
    private func end(_ signal: Int32) async -> ChildProcess.Exit? {
        guard let process else { return nil }
        process.signal(signal)
        let exit = await process.exit()
        running.withLockedValue { $0 = nil }
        return exit
    }
}
