import StrictJSON
import XferModel
import XferProtocol
import XferSystem

/// The directories for downloads, and the disks beneath them.
extension Examination {
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

    private func roots(of value: String?) -> [String] {
        guard let value, let list = try? JSONValue(parsing: Array(value.utf8)) else { return [] }
        return list.arrayValue?.compactMap(\.stringValue) ?? []
    }
}
