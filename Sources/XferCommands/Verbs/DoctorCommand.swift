import ArgumentParser
import StrictJSON
import XferClient
import XferModel
import XferProtocol

/// `xferctl doctor`: examines what fails in practice, and gives advice.
struct DoctorCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "doctor", abstract: "Examine the daemon and its surroundings, and say what to do.",
        discussion: """
            Nothing is changed. The exit status is 0 without a problem, also with warnings; 1 with one; 4 if no daemon \
            answers. For operators it also checks the settings and the directories.
            """)

    @Option(help: ArgumentHelp("Also resolve this host's name, as a transfer would.", valueName: "host"))
    var host: String?

    @OptionGroup var options: VerbOptions

    func run() throws {
        let (findings, answers) = try examine()
        options.show(
            .object([
                "well": .bool(!findings.contains { $0.level == .problem }),
                "findings": .array(findings.map(\.json)),
            ]), findings.flatMap { $0.lines(Terminal.standard.style) })
        if !answers { throw CommandFailure(.noDaemon) }
        if findings.contains(where: { $0.level == .problem }) { throw CommandFailure(.taskFailed) }
    }

    private func examine() throws -> (findings: [Finding], answers: Bool) {
        let system = SystemFacts.ofThisMachine
        let instance = try options.connection.instance()
        let located: LocatedConnection
        do throws(NoDaemonError) {
            located = try SocketLocator.ofThisProcess().connect(to: instance)
        } catch {
            let isUser = error.tried.contains { $0.candidate.origin == .user }
            return ([Examination.socket(error)] + ofMachine(Examination(system: system, settings: [:]), isUser), false)
        }
        let session = DaemonSession(connection: located.connection, place: instance)
        // The daemon reads the rows for it, and remembers those that were damaged since its start.
        _ = try? session.attempt(ProfileList.self, ProfileList.Params())
        var newest = TaskList.Params()
        newest.fields = TaskColumns([])
        newest.limit = TaskPages.largest
        _ = try? session.attempt(TaskList.self, newest)
        guard case .success(let answer) = try session.attempt(DaemonStatus.self, NoParams()) else {
            return ([Examination.rights("the daemon refuses you")], true)
        }
        let status = answer.value
        var settings: [String: String] = [:]
        var isOperator = false
        var file: String?
        var configured: Set<String> = []
        if case .success(let config) = try session.attempt(DaemonConfig.self, NoParams()) {
            isOperator = true
            file = config.value.file
            for setting in config.value.settings { settings[setting.key] = setting.value.stringValue }
            configured = Set(config.value.settings.filter { $0.origin != "default" }.map(\.key))
        }
        let examination = Examination(system: system, settings: settings)
        let restart =
            options.connection.isRemote
            ? DaemonLaunch.anyRestart : DaemonLaunch(processID: status.pid, text: system.text).restart
        var findings = [
            Examination.socket(status, clientVersion: RootCommand.configuration.version, restart: restart),
            examination.rights(isOperator: isOperator), examination.database(status),
            examination.configuration(status, file: file, restart: restart),
        ]
        findings += examination.webhooks(status)
        if case .success(let queue) = try session.attempt(QueueStats.self, NoParams()) {
            findings += examination.queue(isPaused: queue.value.paused, network: status.network.value)
            findings += examination.limits(queue.value.limits, configured: configured)
        }
        if isOperator, let policies = try? session.all(PolicyList.self).value.policies {
            findings += examination.expiries(policies)
        }
        // Paths and processes of another machine are not to be found here.
        guard !options.connection.isRemote else { return (findings, true) }
        let disks = (status.fileSystems ?? []).filter { $0.isLocal }.compactMap(\.mountPoint)
        let isUser = located.candidate.origin == .user
        let isUnit = isUser || located.candidate.origin == .system
        let hasUnit = isUnit && system.unit("xferd.service", isUser)?["ActiveState"] == "active"
        findings += examination.roots(processID: status.pid, isUnit: hasUnit)
        let waiting = waitingForDisks(session)
        findings += examination.unavailable(waiting)
        findings += examination.space(stateDirectory: status.stateDirectory, mountPoints: disks, waiting: waiting)
        findings += examination.fileSystems(status)
        findings += [examination.limits(processID: status.pid)].compactMap(\.self)
        return (findings + ofMachine(examination, isUnit ? isUser : nil), true)
    }

    /// Some of the tasks that wait for room or for their directory; none if the daemon does not answer.
    private func waitingForDisks(_ session: DaemonSession) -> [TaskRecord] {
        var params = TaskList.Params()
        var filter = TaskFilter()
        filter.state = OneOrMany([.waiting])
        filter.reason = OneOrMany([.insufficientSpace, .destinationUnavailable])
        params.filter = filter
        params.limit = TaskPages.largest
        params.fields = TaskColumns(["wait", "error", "dir"])
        guard case .success(let answer)? = try? session.attempt(TaskList.self, params) else { return [] }
        return answer.value.tasks
    }

    /// Examines the machine and the daemon's unit.
    ///
    /// - Parameter isUser: true if the daemon is a unit of the user's service manager, false for the system's; nil if
    ///   it is not a unit.
    private func ofMachine(_ examination: Examination, _ isUser: Bool?) -> [Finding] {
        [examination.clock(), examination.names(host: host), examination.authorities()]
            + [examination.proxies(CallerProxies())].compactMap(\.self)
            + (isUser.map { examination.service(isUser: $0) } ?? [])
    }
}
