import ArgumentParser
import Glibc
import StrictJSON
import XferClient
import XferModel
import XferProtocol
import XferSystem

/// `xferctl daemon`: starts, shows and stops a daemon, and prints its log.
struct DaemonCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "daemon", abstract: "Start, show and stop the daemon; print its log.",
        discussion: """
            `xferctl add` starts a daemon of your own when none runs: by your systemd where that has the unit, else in \
            the background. A daemon in the background ends when the machine does; `xferctl add` starts it again, and its \
            tasks continue. `client.start: never` in ~/.config/xferd/config.yaml, or --no-start, prevents the start.
            """,
        subcommands: [Start.self, Status.self, Stop.self, Log.self], defaultSubcommand: Status.self)

    struct Start: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "start", abstract: "Start a daemon of your own, unless one runs.")

        @OptionGroup var verbosity: VerbosityOptions
        @OptionGroup var output: OutputOptions

        func run() throws {
            let located = try? SocketLocator.ofThisProcess().connect(to: .user)
            let running = located.map { "it runs: \(SafeText.sanitised($0.connection.path))" }
            let line = try running ?? DaemonStarter().start(isRequested: true)
            if output.json {
                return Output.standard.document(.object(["started": .bool(located == nil), "message": .string(line)]))
            }
            if !verbosity.quiet { Output.standard.line(line) }
        }
    }

    struct Status: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "status",
            abstract: "Show the daemon's process, files and service manager.",
            discussion: "The exit status is 4 if no daemon answers.")

        @OptionGroup var options: VerbOptions

        func run() throws {
            let answer = try options.open().call(DaemonStatus.self)
            let launch =
                options.connection.isRemote
                ? nil : DaemonLaunch(processID: answer.value.pid, text: { SystemFacts.text($0) })
            options.show(answer) { status, terminal in
                DaemonText(style: terminal.style).lines(status, launch, hasLog: Log.file(status) != nil)
            }
        }
    }

    struct Stop: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "stop",
            abstract: "Stop the daemon; its tasks continue at the next start.",
            discussion: "Returns when the daemon has ended. `xferctl shutdown --mode` has other ways.")

        @OptionGroup var options: ActionOptions

        func run() throws {
            let daemon = try options.open()
            let status = try daemon.call(DaemonStatus.self).value
            let keeper = options.connection.isRemote ? nil : DaemonKeeper(processID: status.pid)
            if keeper == .systemManager {
                throw CommandFailure(
                    .refused, "systemd manages this daemon: `sudo systemctl stop xferd.socket xferd.service` stops it")
            }
            if keeper == .userManager {
                // The socket first: it would start the daemon again.
                let ending = UserManager.systemctl("stop", "xferd.socket", "xferd.service")
                guard ending?.status == 0 else {
                    let reason = ending?.output.split(separator: "\n").first.map(String.init)
                    throw CommandFailure(.refused, SafeText.sanitised(reason ?? "systemctl cannot be started"))
                }
                return options.show(.object(["mode": "suspend"]), ["stopped by your systemd"])
            }
            let answer = try daemon.call(DaemonShutdown.self, DaemonShutdown.Params(mode: .suspend))
            if keeper != nil, !DaemonKeeper.waitForEnd(of: status.pid) {
                throw CommandFailure(.timedOut, "the daemon agreed to stop, but process \(status.pid) still runs")
            }
            options.show(answer) { _, _ in ["stopped; unfinished tasks continue at the next start"] }
        }
    }

    struct Log: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "log",
            abstract: "Print the end of the daemon's log.",
            discussion: """
                The log of a daemon that xferctl started is in its state directory; that of a service is systemd's \
                journal. `xferctl log ID` shows that of one task.
                """)

        @Option(
            name: [.customShort("n"), .customLong("lines")],
            help: ArgumentHelp("Number of lines to print.", valueName: "count"))
        var count = 20

        @Flag(name: [.customShort("f"), .customLong("follow")], help: "Continue with new lines, until Ctrl-C.")
        var follows = false

        @OptionGroup var connection: ConnectionOptions

        mutating func validate() throws {
            guard (1...1_000_000).contains(count) else { throw ValidationError("-n: expected 1 to 1000000.") }
        }

        func run() throws {
            if connection.isRemote {
                throw CommandFailure(.usage, "the log of a daemon on the network is on its machine")
            }
            let (path, keeper) = try place()
            switch keeper {
            case .systemManager, .userManager:
                try showJournal(isUser: keeper == .userManager)
            case .unmanaged, nil:
                guard let path, access(path, R_OK) == 0 else {
                    throw CommandFailure(
                        .refused,
                        "there is no log that can be read: it went to where xferd was started, or to "
                            + "`journalctl -u xferd`")
                }
                for line in LogTail.lines(of: path, count: count) { Output.standard.line(SafeText.sanitised(line)) }
                if follows { LogTail.follow(path) }
            }
        }

        /// The place of the daemon that answers, else of the user's last one, unless the options choose another daemon.
        private func place() throws(CommandFailure) -> (path: String?, keeper: DaemonKeeper?) {
            let instance = try connection.instance()
            do throws(CommandFailure) {
                let daemon = try DaemonSession.open(instance, error: .discarding)
                let status = try daemon.call(DaemonStatus.self).value
                return (Self.file(status), DaemonKeeper(processID: status.pid))
            } catch {
                guard instance == .automatic || instance == .user else { throw error }
                return (UserPlaces.ofThisProcess().log, nil)
            }
        }

        /// The file of the log of a daemon without a service manager; nil if there is none that can be read.
        static func file(_ status: DaemonStatus.Result) -> String? {
            if let file = DaemonLaunch.logFile(processID: status.pid) { return file }
            let file = status.stateDirectory + "/xferd.log"
            return access(file, R_OK) == 0 ? file : nil
        }

        private func showJournal(isUser: Bool) throws(CommandFailure) {
            guard let journalctl = ChildProgram.find("journalctl") else {
                throw CommandFailure(.refused, "the log is systemd's journal, but there is no journalctl")
            }
            var words = [journalctl] + (isUser ? ["--user"] : []) + ["-u", "xferd", "-n", "\(count)", "--no-pager"]
            if follows { words.append("-f") }
            var copies = words.map { strdup($0) } + [nil]
            execv(journalctl, &copies)
            throw CommandFailure(.refused, "\(journalctl): \(String(cString: strerror(errno)))")
        }
    }
}

/// The description of a daemon's process.
struct DaemonText: Sendable {
    let style: Style

    /// The lines about a daemon.
    ///
    /// - Parameters:
    ///   - launch: nil for a daemon on another machine.
    ///   - hasLog: true if the log of a daemon without a service manager can be read.
    func lines(_ status: DaemonStatus.Result, _ launch: DaemonLaunch?, hasLog: Bool) -> [String] {
        var lines = [
            entry(
                "xferd",
                "\(SafeText.sanitised(status.version)), process \(status.pid), up \(DurationText.short(status.uptime))"),
            entry("socket", SafeText.sanitised(status.socket)),
            entry("state in", SafeText.sanitised(status.stateDirectory)),
        ]
        switch launch?.keeper {
        case .systemManager: lines.append(entry("kept by", "systemd: systemctl status xferd"))
        case .userManager: lines.append(entry("kept by", "your systemd: systemctl --user status xferd"))
        case .unmanaged:
            lines.append(entry("kept by", launch?.keeperText ?? ""))
        case nil: break
        }
        if let launch {
            let isReadable = launch.keeper != .unmanaged || hasLog
            lines.append(
                entry("log", isReadable ? "xferctl daemon log" : "standard error of the command that started xferd"))
        }
        return lines
    }

    private func entry(_ name: String, _ text: String) -> String { style(.bold, TextWidth.padded(name, to: 13)) + text }
}
