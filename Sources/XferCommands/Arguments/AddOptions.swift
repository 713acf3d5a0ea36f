import ArgumentParser
import StrictJSON
import XferModel
import XferProtocol

/// Options for the place of an added task's file.
struct DestinationOptions: ParsableArguments {
    @OptionGroup var place: DirectoryOption

    @Flag(
        name: [.customShort("O"), .customLong("remote-name")],
        help: "Write into the current directory under the server's name for the file.")
    var usesRemoteName = false

    @OptionGroup var conflict: ConflictOption

    @Flag(
        name: [.customShort("c"), .customLong("continue")],
        help: ArgumentHelp(
            "Continue the file that wget, curl, aria2c or a browser left (--on-conflict continue): its bytes are kept if a "
                + "checksum or the file's date shows that they are right, or with --resume unsafe."))
    var continues = false

    @Option(help: ArgumentHelp("Permissions of the file, in octal.", valueName: "octal"), transform: FileMode.argument)
    var mode: FileMode?

    @Flag(name: [.customShort("R"), .customLong("remote-time")], help: "Give the file the server's modification time.")
    var usesRemoteTime = false

    @Flag(help: "Allow a hidden path directly beneath a home directory, such as ~/.ssh.")
    var allowHidden = false

    @OptionGroup var digest: ChecksumOption

    @Option(
        help: ArgumentHelp(
            "Publishing of the file: auto, or manual, which stages it until `xferctl commit` (default: auto).",
            valueName: "how"))
    var finalize: EnumArgument<FinalizeMode>?

    @Option(
        help: ArgumentHelp(
            "Run this hook of the operator on the file before it is published.", valueName: "hook"),
        completion: .daemon(.hooks))
    var postProcess: String?

    /// The policy for a name that is taken; nil is the daemon's default.
    var conflictPolicy: ConflictPolicy? { continues ? .continue : conflict.policy?.word }

    func validate() throws {
        guard continues, let policy = conflict.policy?.word, policy != .continue else { return }
        let hint = policy == .verify ? ": -c, too, keeps a file that has its checksum, and continues any other" : ""
        throw ValidationError("-c and --on-conflict \(policy.rawValue) exclude each other\(hint).")
    }

    /// Checks that the options do not contradict those for the file.
    ///
    /// - Throws: `ValidationError` if one of them contradicts `-o`.
    func check(beside file: FileOptions) throws {
        if usesRemoteName && file.output != nil {
            throw ValidationError("-o and -O exclude each other: -o NAME alone is a name in the current directory.")
        }
        let others = [
            ("-d", place.directory != nil), ("--on-conflict", conflict.policy != nil), ("-c", continues),
            ("--mode", mode != nil),
            ("--remote-time", usesRemoteTime), ("--allow-hidden", allowHidden), ("--finalize", finalize != nil),
        ].filter(\.1).map(\.0)
        if file.isStandardOutput, let other = others.first {
            throw ValidationError("\(other) is about a file; -o - writes none.")
        }
    }

    /// The directory of `-d`, or the working directory with `-O` on this machine. On another machine and in a fleet
    /// `-O` means the daemon's own directory.
    func directory(_ paths: PathResolver) -> String? {
        place.directory ?? (usesRemoteName && !paths.namesAreDaemons ? "." : nil)
    }
}

/// Options for the request and the timeouts of an added task.
struct RequestOptions: ParsableArguments {
    @OptionGroup var header: HeaderOption

    @Option(
        name: [.customShort("A"), .customLong("user-agent")],
        help: ArgumentHelp("Send this User-Agent.", valueName: "name"), transform: HeaderArgument.value)
    var userAgent: String?

    @Option(
        name: [.customShort("e"), .customLong("referer")],
        help: ArgumentHelp("Send this Referer.", valueName: "url"), transform: HeaderArgument.value)
    var referer: String?

    @Option(help: ArgumentHelp("Treatment of redirects (default: follow).", valueName: "policy"))
    var redirect: EnumArgument<RedirectPolicy>?

    @Option(
        name: [.customLong("max-redirs"), .customLong("max-redirects")],
        help: ArgumentHelp("Highest number of redirects to follow (default: 20).", valueName: "count"))
    var maxRedirects: Int?

    @Flag(help: "Allow redirects from https to http.")
    var allowDowngrade = false

    @OptionGroup var conditions: ConditionOptions

    @Flag(name: .customLong("http1.1"), help: "Use HTTP/1.1.")
    var isHTTP1 = false

    @Flag(name: .customLong("http2"), help: "Use HTTP/2.")
    var isHTTP2 = false

    @Option(
        help: ArgumentHelp("Status codes of success, such as 200-299 or 200-299,404.", valueName: "codes"),
        transform: StatusSet.argument)
    var acceptStatus: StatusSet?

    @Option(
        name: .customLong("accept-type"),
        help: ArgumentHelp(
            "An accepted media type or range (image/*), or json, xml, plist, image; may be repeated.",
            valueName: "type"))
    var acceptTypes: [String] = []

    @OptionGroup var answers: AnswerOptions

    @OptionGroup var timeouts: TimeoutOptions

    @OptionGroup var route: RouteOptions

    mutating func validate() throws {
        if isHTTP1 && isHTTP2 { throw ValidationError("--http1.1 and --http2 exclude each other.") }
    }

    /// The header fields that the options specify.
    func headerFields() throws(CommandFailure) -> [HeaderField] {
        var fields = try header.arguments.fields()
        if let userAgent { fields.append(HeaderField(name: "User-Agent", value: userAgent)) }
        if let referer { fields.append(HeaderField(name: "Referer", value: referer)) }
        return fields
    }

    /// The choices of these options about the request.
    var choices: TransferRequest.Choices {
        var choices = TransferRequest.Choices()
        choices.redirect = Patch(redirect?.word)
        choices.maxRedirects = Patch(maxRedirects)
        choices.allowsDowngrade = allowDowngrade ? .set(true) : .unchanged
        choices.httpVersion = isHTTP1 ? .set(.http1) : isHTTP2 ? .set(.http2) : .unchanged
        choices.acceptedStatus = Patch(acceptStatus)
        choices.acceptedTypes = acceptTypes.isEmpty ? .unchanged : .set(acceptTypes)
        conditions.apply(to: &choices)
        answers.apply(to: &choices)
        timeouts.apply(to: &choices)
        route.apply(to: &choices)
        return choices
    }
}

/// Options for the place of an added task in the queue.
struct SchedulingOptions: ParsableArguments {
    @OptionGroup var queue: QueueOptions

    @Option(help: ArgumentHelp("Give it this label.", valueName: "text"), completion: .daemon(.labels))
    var label: String?

    @Option(
        help: ArgumentHelp(
            "Add it for this user (name or uid), with that user's directories and limits; for operators.",
            valueName: "user"))
    var owner: String?

    @Option(help: ArgumentHelp("Make the add safe to repeat: the same key finds the same task.", valueName: "key"))
    var clientKey: String?

    @Flag(
        inversion: .prefixedNo,
        help: "Share one request with tasks that request the same; each gets its own copy.")
    var coalesce = true

    @Flag(help: "Add it paused.")
    var paused = false

    @OptionGroup var times: TimeOptions

    @OptionGroup var limits: LimitOptions

    @Option(
        name: .customLong("range"),
        help: ArgumentHelp(
            "Fetch only this part of the source, such as 0-1023, 500- or, with =, the last bytes: --range=-500.",
            valueName: "first-last"),
        transform: RangeArgument.argument)
    var sourceRange: RangeArgument?

    @Flag(
        inversion: .prefixedNo,
        help: "Make the request even if the URL is listed by `xferctl failed-url`.")
    var retryFailed = true

    @Option(
        help: ArgumentHelp(
            "Resume of kept bytes without a validator: auto (default) starts over, unsafe continues.",
            valueName: "how")
    )
    var resume: EnumArgument<ResumeMode>?

    @Option(
        help: ArgumentHelp("Run this hook of the operator when the task has completed.", valueName: "hook"),
        completion: .daemon(.hooks))
    var onComplete: String?

    @Option(
        help: ArgumentHelp("Run this hook of the operator when the task has failed.", valueName: "hook"),
        completion: .daemon(.hooks))
    var onError: String?

    @Option(
        help: ArgumentHelp(
            "Send the task's end event to this webhook of the operator; may be repeated.", valueName: "webhook"))
    var onEnd: [String] = []
}
