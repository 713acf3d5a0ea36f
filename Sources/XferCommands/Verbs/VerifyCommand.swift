import ArgumentParser
import StrictJSON
import XferModel
import XferProtocol

/// `xferctl verify`: reads published files again and compares them with the digests that their tasks demand.
struct VerifyCommand: TaskVerb {
    static let configuration = CommandConfiguration(
        commandName: "verify", abstract: "Read files again and compare them with their checksums.",
        discussion: """
            Of completed downloads that were added with a checksum. The exit status is 1 if a file differs or is gone. \
            The files are read by this command, with your rights.

              xferctl verify 7
              xferctl verify --group isos
              xferctl verify --all
            """)
    static let states: Set<TaskState> = [.completed]

    @OptionGroup var selection: SelectionOptions
    @OptionGroup var verbosity: VerbosityOptions
    @OptionGroup var options: VerbOptions

    mutating func validate() throws {
        try selection.check()
        try verbosity.check(beside: options.output)
        if options.connection.isRemote {
            throw ValidationError("the files are on the daemon's machine: verify them there.")
        }
    }

    func run() throws {
        let daemon = try options.open()
        let ids = try SelectedTasks(options: selection, daemon: daemon).ids(in: Self.states)
        var verdicts: [FileVerdict] = []
        // A list that was added twice names each file twice: a terabyte is read once.
        var known: [[String]: (hex: String?, problem: String)] = [:]
        for id in ids {
            var params = TaskGet.Params(id: id)
            params.fields = TaskColumns(["state", "checksum", "final_path"])
            let task = try daemon.call(TaskGet.self, params).value.task
            let verdict = FileVerdict(task) { path, algorithm in
                let key = [path, algorithm.rawValue]
                let digest = known[key] ?? FileVerdict.digest(path, algorithm)
                known[key] = digest
                return digest
            }
            verdicts.append(verdict)
            // A large file takes minutes: each is reported as soon as it is known.
            if !options.output.json, !verbosity.quiet || verdict.isProblem { Output.standard.line(verdict.line) }
        }
        if options.output.json { Output.standard.document(.object(["files": .array(verdicts.map(\.json))])) }
        if verdicts.isEmpty, !options.output.json, !verbosity.quiet {
            Output.standard.line("nothing to verify: \(SelectionReason(selection, daemon).noMatch(in: Self.states))")
        }
        if verdicts.contains(where: \.isProblem) { throw CommandFailure(.taskFailed) }
    }
}

/// The result of comparing a published file with its digest.
struct FileVerdict: Hashable, Sendable {
    enum Result: Hashable, Sendable {
        case right
        case differs(found: String)
        case unreadable(String)
        /// The task has no digest to compare with.
        case unknown
        case notPublished
    }

    let id: TaskID
    /// The published file's path, not sanitised.
    let path: String?
    let result: Result

    /// - Parameter digest: the digest of a file in hex, or why it cannot be read.
    init(_ task: TaskRecord, digest: (String, Checksum.Algorithm) -> (hex: String?, problem: String)) {
        id = task.id
        path = task.finalPath
        guard task.state?.value == .completed, let path = task.finalPath else {
            result = .notPublished
            return
        }
        guard let checksum = task.checksum.flatMap({ try? Checksum(parsing: $0) }) else {
            result = .unknown
            return
        }
        let found = digest(path, checksum.algorithm)
        result =
            if let hex = found.hex { hex == checksum.hexDigits ? .right : .differs(found: hex) } else {
                .unreadable(found.problem)
            }
    }

    var isProblem: Bool {
        switch result {
        case .differs, .unreadable: true
        case .right, .unknown, .notPublished: false
        }
    }

    private var words: String {
        switch result {
        case .right: "right"
        case .differs(let found): "differs, it has \(found)"
        case .unreadable(let problem): "cannot be read: \(SafeText.sanitised(problem))"
        case .unknown: "not verified, it was added without a checksum"
        case .notPublished: "has published no file"
        }
    }

    var line: String { "#\(id) \(path.map { "\(SafeText.sanitised($0)): " } ?? "")\(words)" }

    var json: JSONValue {
        var object: JSONObject = ["id": .integer(id.rawValue), "result": .string(word), "message": .string(words)]
        if let path { object["path"] = .string(path) }
        return .object(object)
    }

    private var word: String {
        switch result {
        case .right: "right"
        case .differs: "differs"
        case .unreadable: "unreadable"
        case .unknown: "unknown"
        case .notPublished: "not_published"
        }
    }

    /// The digest, computed by the programs of coreutils, which every Debian has.
    static func digest(_ path: String, _ algorithm: Checksum.Algorithm) -> (hex: String?, problem: String) {
        let name =
            switch algorithm {
            case .sha256: "sha256sum"
            case .sha512: "sha512sum"
            case .sha384: "sha384sum"
            case .sha224: "sha224sum"
            case .sha1: "sha1sum"
            case .md5: "md5sum"
            case .blake2b: "b2sum"
            }
        guard let program = ChildProgram.find(name),
            let ending = ChildProgram.run(program, ["-b", "--", path], environment: ["LC_ALL": "C"])
        else { return (nil, "\(name) is not installed") }
        guard ending.status == 0 else {
            let text = ending.output.split(separator: "\n").first ?? "\(name) failed"
            return (nil, String(text.split(separator: ": ").last ?? text))
        }
        // A name with a backslash or a line break is escaped, which the line says in front.
        let line = ending.output.hasPrefix("\\") ? ending.output.dropFirst() : ending.output[...]
        return (line.prefix { $0.isHexDigit }.lowercased(), "")
    }
}
