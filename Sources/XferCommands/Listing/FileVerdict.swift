import Glibc
import StrictJSON
import XferModel
import XferProtocol

/// The result of reading a file again.
enum FoundDigest: Hashable, Sendable {
    /// Its digest in hex.
    case computed(String)
    /// There is no such file.
    case missing
    case unreadable(String)
}

/// The result of comparing a published file with its digest.
struct FileVerdict: Hashable, Sendable {
    enum Result: Hashable, Sendable {
        case right
        /// - Parameters:
        ///   - found: the file's digest in hex.
        ///   - expected: the digest of the published file.
        case differs(found: String, expected: String)
        case gone
        case unreadable(String)
        /// It is not the file that the task published, or was changed since.
        case changed
        /// No digest is known, and the file is the one that the task published: `record` may compute it.
        case unrecorded
        /// The digest was computed for the first time.
        case recorded(Checksum)
        /// There is no digest to compare with, and none can be recorded: another task published the file.
        case unknown
        case notPublished
    }

    let id: TaskID
    /// The published file's path, not sanitised.
    let path: String?
    private(set) var result: Result

    /// The fields of a task that `init` reads.
    static let fields = TaskColumns([
        "state", "checksum", "digest", "final_path", "post_process", "skipped", "not_modified",
    ])

    /// - Parameter digest: reads a file.
    init(_ task: TaskRecord, digest: (String, Checksum.Algorithm) -> FoundDigest) {
        id = task.id
        path = task.finalPath
        guard task.state?.value == .completed, let path = task.finalPath else {
            result = .notPublished
            return
        }
        // The demanded digest is that of the received bytes: a hook may have made another file from them.
        let demanded = !task.completion.postProcess.isChange ? task.checksum : nil
        guard let checksum = (task.digest ?? demanded).flatMap({ try? Checksum(parsing: $0) }) else {
            let publishedNone = task.skipped == true || task.notModified == true
            result = publishedNone ? .unknown : .unrecorded
            return
        }
        result =
            switch digest(path, checksum.algorithm) {
            case .computed(let hex):
                hex == checksum.hexDigits ? .right : .differs(found: hex, expected: checksum.description)
            case .missing: .gone
            case .unreadable(let problem): .unreadable(problem)
            }
    }

    /// Computes the digest of the file, and lets the daemon keep it if the file is the published one.
    ///
    /// - Parameter digest: reads a file.
    mutating func record(
        _ daemon: DaemonSession, digest: (String, Checksum.Algorithm) -> FoundDigest
    ) throws(CommandFailure) {
        guard let path else { return }
        let hex: String
        switch digest(path, .sha256) {
        case .computed(let found): hex = found
        case .missing: return result = .gone
        case .unreadable(let problem): return result = .unreadable(problem)
        }
        guard let computed = try? Checksum(parsing: hex) else {
            return result = .unreadable("\(hex) is no digest")
        }
        switch try daemon.attempt(TaskRecordDigest.self, TaskRecordDigest.Params(id: id, digest: computed)) {
        case .success(let answer):
            // Another verification may have been first.
            let known = answer.value.digest
            result = known == computed.description ? .recorded(computed) : .differs(found: hex, expected: known)
        case .failure(let refusal):
            result = refusal.data?.reason == "no_bytes" ? .changed : .unknown
        }
    }

    /// The result without its details, in the order of the summary.
    enum Kind: String, CaseIterable {
        case right
        case recorded
        case unverified = "not verified"
        case unpublished = "not published"
        case differs
        case changed
        case gone
        case unreadable = "cannot be read"
    }

    var kind: Kind {
        switch result {
        case .right: .right
        case .differs: .differs
        case .gone: .gone
        case .unreadable: .unreadable
        case .changed: .changed
        case .recorded: .recorded
        case .unrecorded, .unknown: .unverified
        case .notPublished: .unpublished
        }
    }

    var isProblem: Bool { [.differs, .gone, .unreadable, .changed].contains(kind) }

    /// The line below all files: `32 files: 30 right, 1 differs (#7), 1 gone (#9)`. It repeats the tasks of wrong files,
    /// which are easily overlooked among many lines.
    static func summary(_ verdicts: [FileVerdict]) -> String {
        let kinds = Dictionary(grouping: verdicts, by: \.kind)
        let parts = Kind.allCases.compactMap { kind -> String? in
            guard let found = kinds[kind] else { return nil }
            let text = "\(found.count) \(kind.rawValue)"
            guard [.differs, .changed, .gone].contains(kind) else { return text }
            let ids = found.prefix(mostListed).map { "#\($0.id)" } + (found.count > mostListed ? ["…"] : [])
            return "\(text) (\(ids.joined(separator: ", ")))"
        }
        return "\(verdicts.count) \(verdicts.count == 1 ? "file" : "files"): \(parts.joined(separator: ", "))"
    }

    /// The highest number of tasks of one kind in the summary.
    private static let mostListed = 10

    private var words: String {
        switch result {
        case .right: "right"
        case .differs(let found, let expected):
            "differs: the file has \(expected.prefix { $0 != "=" })=\(found), expected \(expected)"
        case .gone: "gone: no such file"
        case .unreadable(let problem): "cannot be read: \(SafeText.sanitised(problem))"
        case .changed: "changed since it was published"
        case .recorded(let digest): "not compared before; recorded \(digest.description)"
        case .unrecorded: "not verified: the task was added without a checksum"
        case .unknown: "not verified: the task published no file of its own and has no checksum"
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
        case .gone: "gone"
        case .unreadable: "unreadable"
        case .changed: "changed"
        case .recorded: "recorded"
        case .unrecorded, .unknown: "unknown"
        case .notPublished: "not_published"
        }
    }

    /// The digest, computed by the programs of coreutils, which every Debian has.
    static func digest(_ path: String, _ algorithm: Checksum.Algorithm) -> FoundDigest {
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
        else { return .unreadable("\(name) is not installed") }
        guard ending.status == 0 else {
            if access(path, F_OK) != 0, [ENOENT, ENOTDIR].contains(errno) { return .missing }
            let text = ending.output.split(separator: "\n").first ?? "\(name) failed"
            return .unreadable(String(text.split(separator: ": ").last ?? text))
        }
        // A name with a backslash or a line break is escaped, which the line says in front.
        let line = ending.output.hasPrefix("\\") ? ending.output.dropFirst() : ending.output[...]
        return .computed(line.prefix { $0.isHexDigit }.lowercased())
    }
}
