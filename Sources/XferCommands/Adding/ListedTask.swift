import XferAria2
import XferModel
import XferProtocol

/// A task of an input list, and the lines from which its fields come.
struct ListedTask {
    var task: NewTask
    /// The number of the line in the list; nil for a URL of the command line.
    let line: Int?
    /// The list of checksums that the line is in; nil for the list of `-i`.
    let list: String?
    /// Lines of options by the task's field that they set.
    var lines: [String: Int] = [:]
    /// The ignored parts of the line.
    var warnings: [InputList.Remark] = []

    init(_ task: NewTask, line: Int?, of list: String? = nil) {
        self.task = task
        self.line = line
        self.list = list
    }

    /// The line and the URL, for messages.
    var name: String {
        let url = SafeText.sanitised(Redaction.url(task.firstURL))
        guard let line else { return url }
        return "line \(line)" + (list.map { " of \(SafeText.sanitised($0))" } ?? "") + " (\(url))"
    }

    /// The daemon's error as a remark about the line at fault.
    ///
    /// - Parameter path: the field, from `data.path` of the answer.
    func remark(_ message: String, path: String?) -> InputList.Remark {
        let field = path.map { String($0.prefix { $0 != "." && $0 != "[" }) } ?? ""
        // An option of the command line is the same for every entry.
        guard field.isEmpty || field == "url" || field == "urls" else {
            return InputList.Remark(line: lines[field] ?? line, text: message)
        }
        let url = SafeText.sanitised(Redaction.url(task.firstURL))
        let text = message.hasPrefix("url: ") ? String(message.dropFirst(5)) : message
        return InputList.Remark(line: line, text: "\(url): \(text)")
    }
}

extension TaskTemplate {
    /// The tasks of a list.
    ///
    /// - Parameter refused: lines of options that refuse their entry are added here, and all are sorted.
    func tasks(of list: InputList, refused: inout [InputList.Remark]) -> [ListedTask] {
        var tasks: [ListedTask] = []
        for entry in list.entries {
            do throws(InputList.Remark) {
                tasks.append(try task(entry))
            } catch {
                refused.append(error)
            }
        }
        refused.sort { $0.line ?? 0 < $1.line ?? 0 }
        return tasks
    }

    /// The task of an entry: the command line's settings for all of them, overridden by the entry's own.
    ///
    /// - Throws: the line of an option that refuses the entry.
    func task(_ entry: InputList.Entry) throws(InputList.Remark) -> ListedTask {
        var listed = ListedTask(task(entry.urls), line: entry.line, of: entry.list)
        listed.warnings = entry.warnings
        var reader = InputOptionReader(self, entry.urls.first ?? "")
        for option in entry.options { try reader.read(option, &listed) }
        try reader.finish(&listed)
        return listed
    }
}

/// Applies an entry's options to its task.
struct InputOptionReader {
    private let template: TaskTemplate
    private let url: String
    private var directory: String?
    private var output: InputList.Option?
    private var headers: [HeaderField] = []
    private var proxy: (option: InputList.Option, url: String)?
    private var noProxy: InputList.Option?
    private var segments: Int64 = 16
    private var overwrites = false
    private var renames = true
    private var updates = false
    private var continues = false
    private var hasConflictPolicy = false

    init(_ template: TaskTemplate, _ url: String) {
        self.template = template
        self.url = url
    }

    mutating func read(_ option: InputList.Option, _ listed: inout ListedTask) throws(InputList.Remark) {
        guard let known = InputOption(rawValue: option.name) else { return try judge(option, &listed) }
        let field: String
        switch known {
        case .out:
            // A list may be another user's: -d alone says where its files go.
            guard !option.value.hasPrefix("/"), !option.value.split(separator: "/").contains("..") else {
                throw option.remark("expected a name or path beneath the directory; \"dir\" sets another one")
            }
            (output, field) = (option, "output")
        case .dir:
            // Beneath -d, so that a list does not depend on the directory in which it is added.
            let isRelative = !option.value.hasPrefix("/") && !option.value.hasPrefix("~")
            let base = isRelative ? template.directory.map { $0 + "/" } ?? "" : ""
            (directory, field) = (base + option.value, "dir")
        case .checksum:
            field = "checksum"
            do throws(ChecksumSyntaxError) {
                listed.task.checksum = try Checksum(parsing: option.value)
            } catch {
                throw option.remark("\(error)")
            }
        case .header:
            guard case .field(let header)? = HeaderArgument(argument: option.value) else {
                throw option.remark("expected \"Name: value\"")
            }
            if HopByHopFields.contains(header.name) {
                listed.warnings.append(option.remark("\(header.name) ignored: \(HopByHopFields.reason)"))
            } else {
                headers.append(header)
            }
            field = "headers"
        case .referer:
            headers.append(HeaderField(name: "Referer", value: option.value == "*" ? url : option.value))
            field = "headers"
        case .userAgent:
            headers.append(HeaderField(name: "User-Agent", value: option.value))
            field = "headers"
        case .noCache:
            if try option.flag { headers.append(HeaderField(name: "Cache-Control", value: "no-cache")) }
            field = "headers"
        case .split, .connections:
            let count = try option.number(1...Int64(Int32.max))
            if count > 16 { listed.warnings.append(option.remark("the highest number here is 16")) }
            // Both limit the connections of one file.
            segments = min(segments, count)
            listed.task.limits.segments = Patch(SegmentCount("\(segments)"))
            field = "segments"
        case .pause: (listed.task.paused, field) = (try option.flag ? true : nil, "paused")
        case .timeout:
            listed.task.choices.idleTimeout = .set(Double(try option.number(0...Self.longestTime)))
            field = "idle_timeout"
        case .connectTimeout:
            listed.task.choices.connectTimeout = .set(Double(try option.number(0...Self.longestTime)))
            field = "connect_timeout"
        case .lowestSpeed:
            (listed.task.choices.minReceiveRate, field) = (.set(try option.size), "min_recv_rate")
        case .receiveLimit: (listed.task.limits.maxReceiveRate, field) = (.set(try option.size), "max_recv_rate")
        case .sendLimit: (listed.task.limits.maxSendRate, field) = (.set(try option.size), "max_send_rate")
        case .maxTries:
            // aria2 counts tries, and 0 is unlimited.
            let tries = try option.number(0...Int64(Int32.max))
            listed.task.limits.maxRetries = tries == 0 ? .unchanged : .set(Int(clamping: tries - 1))
            field = "max_retries"
        case .remoteTime: (listed.task.destination.usesRemoteTime, field) = (.set(try option.flag), "remote_time")
        case .allowOverwrite: (overwrites, hasConflictPolicy, field) = (try option.flag, true, "on_conflict")
        case .autoFileRenaming: (renames, hasConflictPolicy, field) = (try option.flag, true, "on_conflict")
        case .conditionalGet: (updates, hasConflictPolicy, field) = (try option.flag, true, "on_conflict")
        case .continuing:
            continues = try option.flag
            // What aria2 does by default is not said by `false`.
            hasConflictPolicy = hasConflictPolicy || continues
            field = "on_conflict"
        case .proxy: field = try readProxy(option, scheme: nil)
        case .httpProxy: field = try readProxy(option, scheme: "http")
        case .httpsProxy: field = try readProxy(option, scheme: "https")
        case .noProxy: (noProxy, field) = (option, "proxy")
        }
        listed.lines[field] = option.line
    }

    /// Combines the settings of several options.
    mutating func finish(_ listed: inout ListedTask) throws(InputList.Remark) {
        if directory != nil || output != nil {
            let dir = directory ?? template.directory
            do throws(CommandFailure) {
                let place = try template.paths.destination(directory: dir ?? "/", output: output?.value)
                // As without a name: where no directory is set, the file belongs in the daemon's own. What the command
                // line names (-o) is relative to the working directory, but a list does not know that one.
                (listed.task.dir, listed.task.output) = dir == nil ? (nil, output?.value) : place
            } catch {
                throw InputList.Remark(line: output?.line ?? listed.line, text: "out: \(error.message)")
            }
        }
        if hasConflictPolicy {
            listed.task.destination.onConflict = .set(
                updates
                    ? .update : overwrites ? .overwrite : continues ? .continue : renames ? .rename : .fail)
        }
        if !headers.isEmpty {
            var changes = listed.task.headers ?? HeaderChanges([])
            let names = Set(headers.map { $0.name.lowercased() })
            changes.set.fields.removeAll { names.contains($0.name.lowercased()) }
            changes.set.fields += headers
            listed.task.headers = changes
        }
        if let proxy { listed.task.access.proxy = proxy.url.isEmpty ? .clear : .set(ProxyRecord(url: proxy.url)) }
        if let noProxy, case .set(var record) = listed.task.access.proxy {
            record.form.noProxy = noProxy.value.split(separator: ",").map { String($0.trimmingBlanks) }
            listed.task.access.proxy = .set(record)
        }
    }

    private func judge(_ option: InputList.Option, _ listed: inout ListedTask) throws(InputList.Remark) {
        switch InputOption.verdict(option.name) {
        case .refused(let remedy)?: throw option.remark(remedy)
        case .ignored?, nil: listed.warnings.append(option.remark("ignored, it has no equivalent here"))
        }
    }

    /// Reads the proxy for URLs with a scheme.
    ///
    /// - Parameter scheme: the scheme of the URLs for which the proxy is used; nil is any.
    private mutating func readProxy(
        _ option: InputList.Option, scheme: String?
    ) throws(InputList.Remark) -> String {
        guard !option.value.contains("@") else {
            throw option.remark("a list cannot contain a login: give --proxy with --proxy-user, or --profile")
        }
        // The one for a scheme beats the one for all, wherever it stands.
        let isFree = proxy.map { $0.option.name == InputOption.proxy.rawValue } ?? true
        if scheme.map({ url.lowercased().hasPrefix("\($0)://") }) ?? isFree {
            let isWhole = option.value.isEmpty || option.value.contains("://")
            proxy = (option, isWhole ? option.value : "http://\(option.value)")
        }
        return "proxy"
    }

    /// The longest duration: a year, in seconds.
    private static let longestTime: Int64 = 31_536_000
}

extension InputList.Option {
    func remark(_ text: String) -> InputList.Remark {
        InputList.Remark(line: line, text: "\(SafeText.sanitised(name)): \(SafeText.sanitised(text))")
    }

    fileprivate var flag: Bool {
        get throws(InputList.Remark) {
            guard value == "true" || value == "false" else { throw remark("expected true or false") }
            return value == "true"
        }
    }

    fileprivate func number(_ range: ClosedRange<Int64>) throws(InputList.Remark) -> Int64 {
        guard value.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int64(value, radix: 10),
            range.contains(number)
        else { throw remark("expected a number from \(range.lowerBound) to \(range.upperBound)") }
        return number
    }

    /// A size in bytes in aria2's form: `K` and `M` are powers of 1024.
    fileprivate var size: Int64 {
        get throws(InputList.Remark) {
            let factor: Int64 = value.last.map { "Kk".contains($0) ? 1 << 10 : "Mm".contains($0) ? 1 << 20 : 1 } ?? 1
            let digits = factor == 1 ? value[...] : value.dropLast()
            guard !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }),
                let number = Int64(digits, radix: 10)
            else { throw remark("expected bytes per second such as 500K or 2M") }
            let rate = number.multipliedSaturated(by: factor)
            guard rate <= BandwidthLimits.highest else { throw remark("expected at most \(BandwidthLimits.highest)") }
            return rate
        }
    }
}

extension [ListedTask] {
    /// The daemon's message with the line in place of `tasks[N]`, where it refers to another task of the call.
    func namingOther(in message: String) -> String {
        message.replacingOtherTask { indices.contains($0) ? self[$0].name : nil }
    }
}

extension String {
    /// The daemon's message with a name in place of `tasks[N]`, where it refers to another task of the call.
    func replacingOtherTask(_ name: (Int) -> String?) -> String {
        guard let open = ranges(of: " of tasks[").last, let close = self[open.upperBound...].firstIndex(of: "]"),
            let number = Int(self[open.upperBound..<close], radix: 10), let other = name(number)
        else { return self }
        return "\(self[..<open.lowerBound]) of \(other)\(self[index(after: close)...])"
    }
}
