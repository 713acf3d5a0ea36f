import XferAria2
import XferModel
import XferProtocol

/// The result of reading a command line: downloads, and the way in which they are shown.
struct Aria2Job {
    var tasks: [NewTask] = []
    var ignored: Set<String> = []
    var isQuiet = false
    var showsProgress = true
    var hidesResults = false
    /// The ignored parts of files, for standard error.
    var warnings: [String] = []

    /// The number of attempts of a download unless the command sets its own. xferd would retry for days, and a caller
    /// waits.
    private static let tries = 5
    /// Options that are about this program.
    private static let own: Set<String> = [
        "input-file", "quiet", "show-console-readout", "download-result", "force-sequential", "load-cookies",
        "max-overall-download-limit", "dir", "no-conf",
    ]

    /// - Parameters:
    ///   - paths: makes directories absolute.
    ///   - read: reads a file that the command names; `-` is standard input.
    init(
        _ line: Aria2CommandLine, paths: PathResolver, read: (String) throws(Aria2Fault) -> [UInt8]
    ) throws(Aria2Fault) {
        isQuiet = line.value("quiet") == "true"
        showsProgress = line.value("show-console-readout") != "false" && !isQuiet
        hidesResults = isQuiet || line.value("download-result") == "hide"
        var cookies: CookieFile?
        if let path = line.value("load-cookies") {
            let file = CookieFile(try read(path))
            if let warning = file.warning(option: "--load-cookies", path: path) { warnings.append(warning) }
            cookies = file
        }
        var common = Aria2Options()
        for (name, value) in line.options where !Self.own.contains(name) { try common.add(name, value) }
        if let rate = line.value("max-overall-download-limit") { try common.add("max-download-limit", rate) }
        ignored = common.ignored
        let place = paths.absolute(line.value("dir") ?? "")

        for (uris, options) in try downloads(of: line, read) {
            var all = common
            var own = place
            var task: NewTask
            do throws(Aria2Fault) {
                for (name, value) in options {
                    if name == "dir" { own = paths.absolute(value) } else { try all.add(name, value) }
                }
                task = try Self.task(uris, all, directory: own, cookies: cookies?.records(for: uris) ?? [])
            } catch {
                guard line.value("input-file") != nil, let uri = uris.first else { throw error }
                // A list may have thousands of entries.
                throw Aria2Fault("\(Redaction.url(uri)): \(error.message)", code: error.code)
            }
            ignored.formUnion(all.ignored)
            tasks.append(task)
        }
    }

    /// The URIs of each download with options of its own.
    private func downloads(
        of line: Aria2CommandLine, _ read: (String) throws(Aria2Fault) -> [UInt8]
    ) throws(Aria2Fault) -> [(uris: [String], options: [(String, String)])] {
        if let file = line.value("input-file") {
            guard let text = String(validating: try read(file), as: UTF8.self) else {
                throw Aria2Fault("\(file) is not UTF-8 text")
            }
            return try Self.list(text)
        }
        guard !line.arguments.isEmpty else { throw Aria2Fault("specify at least one URL") }
        guard line.value("force-sequential") == "true" else { return [(line.arguments, [])] }
        return line.arguments.map { ([$0], []) }
    }

    /// The lines of an input file: URIs with tabs between them, then indented options (aria2c(1), Input File).
    private static func list(_ text: String) throws(Aria2Fault) -> [(uris: [String], options: [(String, String)])] {
        var found: [(uris: [String], options: [(String, String)])] = []
        for line in text.split(whereSeparator: \.isNewline) where !line.hasPrefix("#") {
            let content = line.drop { $0 == " " || $0 == "\t" }
            guard !content.isEmpty else { continue }
            guard content.startIndex != line.startIndex else {
                found.append((content.split(separator: "\t").map(String.init), []))
                continue
            }
            let parts = content.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, !found.isEmpty else {
                throw Aria2Fault("the input file has a line that is neither URIs nor NAME=VALUE: \(content.prefix(80))")
            }
            found[found.count - 1].options.append((String(parts[0]), String(parts[1])))
        }
        guard !found.isEmpty else { throw Aria2Fault("the input file contains no URI") }
        return found
    }

    private static func task(
        _ uris: [String], _ options: Aria2Options, directory: String, cookies: [CookieRecord]
    ) throws(Aria2Fault) -> NewTask {
        var task = try options.task(for: uris)
        task.dir = directory
        if !task.limits.maxRetries.isChange, options.values[.tries] == nil { task.limits.maxRetries = .set(tries - 1) }
        if !cookies.isEmpty { task.access.cookieList = .set(cookies) }
        return task
    }
}
