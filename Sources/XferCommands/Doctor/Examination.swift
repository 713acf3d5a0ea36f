import StrictJSON
import XferClient
import XferModel
import XferProtocol
import XferSystem

/// The rules of `xferctl doctor`: each function judges one thing by facts.
struct Examination: Sendable {
    let system: SystemFacts
    /// The settings in force by key; empty for callers that are not operators.
    let settings: [String: String]

    // MARK: The daemon

    /// The finding that no daemon answers, with the reasons.
    static func socket(_ error: NoDaemonError, _ managers: ServiceManagers = .ofThisMachine()) -> Finding {
        .problem("socket", "no daemon answers: \(error.reasons)", error.advice(managers))
    }

    /// - Parameter restart: the way to restart this daemon.
    static func socket(
        _ status: DaemonStatus.Result, clientVersion: String, restart: String = DaemonLaunch.anyRestart
    ) -> Finding {
        guard status.version == clientVersion else {
            return .warning(
                "socket", "\(status.socket) answers, xferd \(status.version), but xferctl is \(clientVersion)",
                "restart the daemon, which may be older than its file: \(restart)")
        }
        return .well("socket", "\(status.socket) answers, xferd \(status.version)")
    }

    /// The finding that the daemon answers, but refuses this user.
    static func rights(_ refusal: String) -> Finding {
        .problem(
            "rights", refusal, "an operator can list you under access.users")
    }

    func rights(isOperator: Bool) -> Finding {
        .well(
            "rights", isOperator ? "you are an operator" : "you may use the daemon; some checks are for operators only")
    }

    func database(_ status: DaemonStatus.Result) -> Finding {
        let reason = status.degradedReason ?? "it cannot be written, so nothing starts"
        let remedy = "free space, or restore the missing files in \(status.stateDirectory); xferd continues by itself"
        if let damaged = status.damagedRows, !damaged.isEmpty {
            let hasPolicy = damaged.contains { $0.hasPrefix("trust policy ") }
            let policyEffect = status.degraded ? "nothing starts" : "nothing starts after a restart"
            let effect = hasPolicy ? policyEffect : "they have no effect"
            let tasks = damaged.filter { $0.hasPrefix(DamagedRowText.task) }
            let ids = tasks.prefix(20).map { $0.dropFirst(DamagedRowText.task.count) }.joined(separator: " ")
            let isUnwritable = status.degraded && !hasPolicy
            var advice = isUnwritable ? [remedy] : []
            if tasks.count < damaged.count {
                advice.append("set them again or remove them: xferctl policy, xferctl profile, xferctl token")
            }
            if !tasks.isEmpty {
                advice.append(
                    "xferctl cancel \(SafeText.sanitised(ids)), then xferctl remove; or stop the daemon, and "
                        + "xferd --recover keeps what can be read")
            }
            let message = "damaged, and \(effect): \(DamagedRowText.list(damaged))"
            return .problem(
                "database", isUnwritable ? "\(reason); \(message)" : message, advice.joined(separator: "; "))
        }
        return status.degraded ? .problem("database", reason, remedy) : .well("database", "it can be written")
    }

    /// - Parameters:
    ///   - file: the daemon's configuration file.
    ///   - restart: the way to restart this daemon.
    func configuration(
        _ status: DaemonStatus.Result, file: String? = nil, restart: String = DaemonLaunch.anyRestart
    ) -> Finding {
        if let conflicts = status.configurationConflicts, !conflicts.isEmpty,
            status.configurationProblem.map({ $0 == conflicts.joined(separator: "; ") }) != false
        {
            let refusal = status.configurationProblem == nil ? "" : "the configuration file was not applied: "
            return .problem(
                "settings", refusal + conflicts.joined(separator: "; "),
                "xferctl policy show NAME and xferctl profile show NAME print what is in force; remove one of the two")
        }
        guard let problem = status.configurationProblem else {
            guard let waiting = status.keysWaitingForRestart, !waiting.isEmpty else {
                return .well("settings", "the configuration is in force")
            }
            let keys = waiting.map { SafeText.sanitised($0) }.joined(separator: ", ")
            return .warning(
                "settings", "\(keys) of the configuration file wait\(waiting.count == 1 ? "s" : "") for a restart",
                "restart the daemon: \(restart)")
        }
        return .problem(
            "settings", "the configuration file was not applied: \(problem)",
            "\(checkCommand(file)) shows the line; save the file again when it is corrected")
    }

    /// The command that checks the daemon's file, which need not be that of the caller's own daemon.
    private func checkCommand(_ file: String?) -> String {
        guard let file else { return "xferd --check-config" }
        return "xferd --config \(SafeText.sanitised(SuggestedCommand.quoted(file))) --check-config"
    }

    /// The webhooks whose receivers did not accept the last delivery.
    func webhooks(_ status: DaemonStatus.Result) -> [Finding] {
        (status.failingWebhooks ?? []).map { failing in
            let name = failing.prefix { $0 != ":" }
            return .warning(
                "webhook", "it does not accept deliveries, \(failing)",
                "xferctl webhook test \(name) sends an event at once; deliveries are repeated for 3 days")
        }
    }

    func queue(isPaused: Bool, network: NetworkState?) -> [Finding] {
        var findings: [Finding] = []
        if isPaused { findings.append(.warning("queue", "an operator has paused it", "xferctl queue resume")) }
        if network == .offline {
            findings.append(
                .problem("network", "there is no route to other machines", "xferctl network shows the interfaces"))
        }
        return findings
    }

    /// Reports the limits of the configuration that those of a client override.
    ///
    /// - Parameter configured: the keys that are set, and not left at their defaults.
    func limits(_ limits: QueueLimits, configured: Set<String>) -> [Finding] {
        let options = [
            ("max_active", "--max-active", ["queue.max_active"]),
            ("max_active_per_host", "--max-active-per-host", ["queue.max_active_per_host"]),
            ("order", "--order", ["queue.order"]),
            ("max_recv_rate", "--recv", ["bandwidth.timetable", "bandwidth.recv"]),
            ("max_send_rate", "--send", ["bandwidth.timetable", "bandwidth.send"]),
        ]
        return options.compactMap { name, option, keys in
            guard limits.overridden?.contains(name) == true, let key = keys.first(where: configured.contains) else {
                return nil
            }
            return .warning(
                "limits",
                "\(key) is not in force for \(name): a client has set a limit (xferctl limit, the page, aria2)",
                "xferctl limit \(option) default lets the configuration decide")
        }
    }

    // MARK: Directories

    /// The download directory and the roots.
    ///
    /// - Parameters:
    ///   - processID: the daemon's process, whose user has to be able to write in them.
    ///   - isUnit: true if the daemon is a unit of systemd, whose sandbox may make directories read-only.
    func roots(processID: Int64? = nil, isUnit: Bool = true) -> [Finding] {
        guard !settings.isEmpty else { return [] }
        let directories =
            roots(of: settings["download.roots"])
            + [text(settings["download.dir"]), incompleteDirectory].compactMap(\.self)
        guard !directories.isEmpty else {
            return [.problem("roots", "no directory is allowed for downloads", "set download.roots and reload")]
        }
        let user = processID.flatMap { effectiveUser(ofProcess: $0) }
        return Set(directories).sorted().map { directory in
            switch system.entry(directory) {
            case .directory:
                if let user, system.permissions(directory)?.excludes(user) == true {
                    .problem(
                        "roots", "\(directory) cannot be written by the daemon's user (uid \(user))",
                        "chown \(user) \(directory), or let its group write there")
                } else if let processID, mount(of: directory, forProcess: processID)?.isReadOnly == true {
                    .problem(
                        "roots", "\(directory) is read-only for the daemon", writableAdvice(directory, isUnit: isUnit))
                } else {
                    .well("roots", "\(directory) is there")
                }
            case .missing where isMadeByFirstDownload(directory, for: user):
                .well("roots", "\(directory) does not exist; the first download makes it")
            case .missing:
                .warning(
                    "roots", "\(directory) does not exist",
                    "make it, or mount its disk; new tasks there are refused, and earlier ones wait, until then")
            case .unresponsive:
                .problem(
                    "roots", "\(directory) does not answer", "check the server of its mount; tasks wait until then")
            case .unreadable:
                .well("roots", "you may not read \(directory)")
            case .file, .other:
                .problem("roots", "\(directory) is not a directory", "set download.roots and download.dir and reload")
            }
        }
    }

    /// The way to make a directory writable for the daemon: its file system, its unit, or what started it.
    private func writableAdvice(_ directory: String, isUnit: Bool) -> String {
        if let mount = mount(of: directory, forProcess: nil), mount.isReadOnly {
            return "the file system is mounted read-only: mount -o remount,rw \(SuggestedCommand.quoted(mount.point))"
        }
        return isUnit
            ? "systemctl edit xferd: [Service] ReadWritePaths=\(directory), then restart it"
            : "start the daemon, or its container, again with this directory writable"
    }

    /// True if the directory is the daemon's own for downloads and the daemon's user can write in its parent.
    ///
    /// A parent that is missing, too, may be that of a disk that is not mounted.
    private func isMadeByFirstDownload(_ directory: String, for user: UInt32?) -> Bool {
        guard let user, directory == text(settings["download.dir"]), let slash = directory.lastIndex(of: "/") else {
            return false
        }
        let parent = slash == directory.startIndex ? "/" : String(directory[..<slash])
        guard system.entry(parent) == .directory else { return false }
        return system.permissions(parent)?.excludes(user) == false
    }

    /// Checks the space of the state directory and the directories for downloads, without the reserve. Other disks are
    /// reported if they are full.
    ///
    /// - Parameter waiting: tasks that wait for room, with their failures.
    func space(stateDirectory: String, mountPoints: [String] = [], waiting: [TaskRecord] = []) -> [Finding] {
        let directories = [stateDirectory] + [text(settings["download.dir"]), incompleteDirectory].compactMap(\.self)
        let lacking = spaceWaits(waiting)
        let known = (directories + lacking.compactMap(\.directory)).compactMap { system.room($0) }
        let full = mountPoints.filter { point in
            system.room(point).map { $0.free <= reserve && !known.contains($0) } ?? false
        }
        let general = (directories + full).compactMap { directory -> Finding? in
            guard let room = system.room(directory) else { return nil }
            let beside = max(0, room.free - reserve)
            let message = "\(directory) has \(ByteText.size(beside)) free beyond download.reserve"
            if beside == 0 {
                return .problem("space", message, "delete files, or lower download.reserve")
            }
            return beside < max(room.size / 20, 64 << 20)
                ? .warning("space", message, "delete files before it is full") : .well("space", message)
        }
        return lacking.map(\.finding) + general
    }

    /// Reports the directories that tasks wait for, such as those of a disk that is not mounted: one finding for each.
    ///
    /// - Parameter waiting: tasks that wait, with their directories and failures.
    func unavailable(_ waiting: [TaskRecord]) -> [Finding] {
        let tasks = waiting.filter { $0.wait?.reason.value == .destinationUnavailable }
        return Dictionary(grouping: tasks) { $0.dir ?? "" }.sorted { $0.key < $1.key }.map { directory, tasks in
            let others = tasks.count > 1 ? " and \(tasks.count - 1) more wait" : " waits"
            let place = directory.isEmpty ? "its directory" : directory
            let reason = tasks[0].error.map { ": \(SafeText.sanitised($0.message))" } ?? ""
            return .problem(
                "disk", "#\(tasks[0].id)\(others) for \(SafeText.sanitised(place))\(reason)",
                "mount its disk, or make the directory writable; the tasks continue by themselves")
        }
    }

    private var reserve: Int64 { settings["download.reserve"].flatMap { ByteSizeText.parse($0) } ?? 0 }

    /// The findings about tasks that wait for room: one for each directory.
    private func spaceWaits(_ waiting: [TaskRecord]) -> [(directory: String?, finding: Finding)] {
        let tasks = waiting.filter { $0.wait?.reason.value == .insufficientSpace }
        let places = Dictionary(grouping: tasks) { $0.error?.space?.directory ?? "" }
        return places.sorted { $0.key < $1.key }.map { place -> (directory: String?, finding: Finding) in
            let (directory, tasks) = place
            let others = tasks.count > 1 ? " and \(tasks.count - 1) more wait" : " waits"
            let who = "#\(tasks[0].id)\(others) for room"
            guard let largest = tasks.compactMap({ $0.error?.space }).max(by: { $0.needed < $1.needed }) else {
                let reason = tasks[0].error.map { ": \($0.message)" } ?? ""
                return (nil, .problem("space", who + reason, "delete files there; the tasks continue by themselves"))
            }
            let room = system.room(directory)
            let free = room.map { "\(ByteText.size($0.free)) are free, " } ?? ""
            let leavesReserve = !largest.usesReserve && reserve > 0
            let kept = leavesReserve ? ", and \(ByteText.size(reserve)) stay free (download.reserve)" : ""
            let most = tasks.count > 1 ? " for the largest" : ""
            let needed = "\(ByteText.size(largest.needed)) are needed\(most)\(kept)"
            let total = largest.needed.addingSaturated(largest.usesReserve ? 0 : reserve)
            if let room, room.free >= total {
                return (
                    directory,
                    .warning(
                        "space", "\(who) in \(directory), which has \(ByteText.size(room.free)) free now",
                        "the daemon checks it again within a minute; if that is not the disk, mount it")
                )
            }
            let isTooSmall = room.map { $0.size < total } ?? false
            let isTooSmallWithoutReserve = room.map { $0.size < largest.needed } ?? false
            let advice =
                isTooSmall
                ? "the whole file system has \(ByteText.size(room?.size ?? 0)): choose another directory "
                    + "(xferctl update ID -d DIR)\(isTooSmallWithoutReserve ? "" : ", or lower download.reserve")"
                : "delete files there; the tasks continue by themselves"
            return (directory, .problem("space", "\(who) in \(directory): \(free)\(needed)", advice))
        }
    }

    /// The directory for incomplete files, or the one in which xferd will make it.
    private var incompleteDirectory: String? {
        guard let path = text(settings["download.incomplete_dir"]), let slash = path.lastIndex(of: "/"),
            slash > path.startIndex
        else { return nil }
        return system.entry(path) == .missing ? String(path[..<slash]) : path
    }

    /// Reports the abilities of the file systems that the daemon has used.
    func fileSystems(_ status: DaemonStatus.Result) -> [Finding] {
        (status.fileSystems ?? []).map { .well("disk", $0.sentence) }
    }

    // MARK: The machine

    /// The earliest second that the clock can show: this version was written later.
    private static let plausible: Int64 = 1_767_225_600

    func clock() -> Finding {
        guard system.now >= Self.plausible else {
            return .problem(
                "clock", "it is far behind, so that certificates seem not to be valid yet",
                "set it: timedatectl set-ntp true")
        }
        guard system.isClockSynchronised != false else {
            return .warning(
                "clock", "no time service synchronises it",
                "timedatectl set-ntp true; waits and deletions follow the clock")
        }
        return .well("clock", "it is plausible")
    }

    /// Judges whether names of hosts are resolved.
    ///
    /// - Parameter host: resolved if the user specified one.
    func names(host: String?) -> Finding {
        if let host {
            return system.resolves(host)
                ? .well("dns", "\(host) has an address")
                : .problem("dns", "\(host) has no address", "check the name, and the servers in /etc/resolv.conf")
        }
        let lines = system.text("/etc/resolv.conf")?.split(separator: "\n") ?? []
        guard lines.contains(where: { $0.hasPrefix("nameserver ") || $0.hasPrefix("nameserver\t") }) else {
            return .warning(
                "dns", "/etc/resolv.conf lists no server",
                "names of hosts are not resolved unless another way is configured: xferctl doctor --host HOST tries it")
        }
        return .well("dns", "/etc/resolv.conf lists a server")
    }

    /// A proxy that the caller's environment names: nil if there is none.
    func proxies(_ caller: CallerProxies) -> Finding? {
        guard !caller.urls.isEmpty else { return nil }
        let named = "your environment sets the proxy \(caller.urls.joined(separator: ", "))"
        if settings["network.proxy_from_environment"] == "true" {
            return .well("proxy", "\(named); the daemon uses that of its own environment")
        }
        return .warning(
            "proxy", "\(named), which the daemon does not use",
            "give it to tasks with --proxy, to all of them with a profile, or set network.proxy_from_environment: true "
                + "and the variable in the daemon's environment (systemctl edit xferd, Environment=)")
    }

    func authorities() -> Finding {
        let path = text(settings["trust.ca_file"]) ?? "/etc/ssl/certs/ca-certificates.crt"
        let advice = "apt install ca-certificates, or set trust.ca_file"
        switch system.entry(path) {
        case .missing: return .problem("ca_file", "\(path) does not exist: no https server is trusted", advice)
        case .unreadable, .unresponsive: return .warning("ca_file", "you cannot read \(path)", "check that xferd can")
        case .directory, .other: return .problem("ca_file", "\(path) is not a file", advice)
        case .file: break
        }
        guard system.text(path)?.contains("-----BEGIN CERTIFICATE-----") == true else {
            return .problem("ca_file", "\(path) contains no certificate: no https server is trusted", advice)
        }
        return .well("ca_file", "\(path) contains certificates")
    }

    /// The trust policies that expire within 30 days, or have expired.
    func expiries(_ policies: [PolicyRecord]) -> [Finding] {
        policies.compactMap { policy in
            guard let expiry = policy.expiresAt else { return nil }
            let name = "the trust policy \"\(SafeText.sanitised(policy.name))\""
            let left = expiry.wholeSecond.subtractingSaturated(system.now)
            guard left > 0 else {
                return .problem(
                    "policy", "\(name) has expired: only the ordinary check applies to its hosts",
                    "set it again with new pins and another expires_at, or remove it: xferctl policy")
            }
            let days = left / 86_400
            guard days < 30 else { return nil }
            return .warning(
                "policy", "\(name) expires \(days == 0 ? "within a day" : "in \(days) day\(days == 1 ? "" : "s")")",
                "set it again with a later expires_at before that: xferctl policy")
        }
    }

    /// Checks the number of open files that the daemon may have (proc(5), `/proc/PID/limits`).
    func limits(processID: Int64) -> Finding? {
        guard let text = system.text("/proc/\(processID)/limits"),
            let line = text.split(separator: "\n").first(where: { $0.hasPrefix("Max open files") }),
            let limit = line.dropFirst(14).split(separator: " ").first.flatMap({ Int64($0, radix: 10) })
        else { return nil }
        guard limit >= 4096 else {
            return .warning(
                "limits", "xferd may have \(limit) files open, enough for some \(max(1, (limit - 336) / 5)) downloads",
                "LimitNOFILE=65536 in the unit, or ulimit -n before xferd is started")
        }
        return .well("limits", "xferd may have \(limit) files open")
    }

    /// The uid in force, from proc_pid_status(5).
    private func effectiveUser(ofProcess processID: Int64) -> UInt32? {
        let lines = system.text("/proc/\(processID)/status")?.split(separator: "\n") ?? []
        return lines.first { $0.hasPrefix("Uid:") }?.split { $0 == "\t" || $0 == " " }.dropFirst(2).first
            .flatMap { UInt32($0, radix: 10) }
    }

    /// The mount of the directory in the table of the daemon's process (proc(5), /proc/PID/mountinfo): it may be
    /// read-only by its unit's sandbox, or because its disk is.
    ///
    /// - Parameter processID: nil for this process.
    private func mount(of directory: String, forProcess processID: Int64?) -> (point: String, isReadOnly: Bool)? {
        let path = system.resolved(directory)
        var mount: (point: String, isReadOnly: Bool)?
        let process = processID.map { "\($0)" } ?? "self"
        for line in system.text("/proc/\(process)/mountinfo")?.split(separator: "\n") ?? [] {
            let fields = line.split(separator: " ")
            guard fields.count > 5 else { continue }
            let point = fields[4].replacing("\\040", with: " ")
            let isAbove = point == "/" || path == point || path.utf8.starts(with: "\(point)/".utf8)
            // Of two mounts at one place the later one counts.
            guard isAbove, point.utf8.count >= mount?.point.utf8.count ?? 0 else { continue }
            mount = (String(point), fields[5].split(separator: ",").contains("ro"))
        }
        return mount
    }

    /// The service manager's view of the daemon.
    func service(isUser: Bool) -> [Finding] {
        guard let unit = system.unit("xferd.service", isUser), unit["LoadState"] == "loaded" else { return [] }
        let user = isUser ? "--user " : ""
        var findings: [Finding] = []
        if unit["ActiveState"] == "failed" {
            findings.append(
                .problem(
                    "systemd", "xferd.service has failed: \(unit["Result"] ?? "unknown")",
                    "journalctl \(user)-u xferd says why; systemctl \(user)restart xferd"))
        }
        if let count = unit["NRestarts"].flatMap({ Int64($0, radix: 10) }), count > 3 {
            findings.append(
                .warning("systemd", "xferd.service was restarted \(count) times", "journalctl \(user)-u xferd -p err"))
        }
        if ["disabled", "static"].contains(unit["UnitFileState"]) {
            findings.append(
                .warning(
                    "systemd", "xferd.service is not enabled: nothing is resumed at boot",
                    "systemctl \(user)enable xferd.service"))
        }
        if isUser, system.entry("/var/lib/systemd/linger/\(system.userName)") == .missing {
            findings.append(
                .warning("systemd", "your daemon ends when you log out", "loginctl enable-linger keeps it running"))
        }
        return findings.isEmpty ? [.well("systemd", "xferd.service is enabled")] : findings
    }

    // MARK: Values of settings

    /// A setting's text, which is YAML: a string in quotes, or bare.
    private func text(_ value: String?) -> String? { value.flatMap(DaemonConfig.Setting.text) }

    private func roots(of value: String?) -> [String] {
        guard let value, let list = try? JSONValue(parsing: Array(value.utf8)) else { return [] }
        return list.arrayValue?.compactMap(\.stringValue) ?? []
    }
}
