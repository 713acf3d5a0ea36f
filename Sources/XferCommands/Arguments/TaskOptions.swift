import ArgumentParser
import XferModel
import XferProtocol

/// The file of a single task. `add` has it; a batch has many files.
struct FileOptions: ParsableArguments {
    @Option(
        name: [.customShort("o"), .customLong("output")],
        help: ArgumentHelp(
            "Write to this file; relative paths are relative to your current directory. - waits and writes the result to standard output.",
            valueName: "file"),
        completion: .file())
    var output: String?

    /// True if the bytes go to standard output.
    var isStandardOutput: Bool { output == "-" || output == "/dev/stdout" }
}

/// The directory of a task's file. `add` and `update` have this option.
struct DirectoryOption: ParsableArguments {
    @Option(
        name: [.customShort("d"), .customLong("dir")],
        help: ArgumentHelp(
            "Write into this directory (default of a new task without -o and -O: the daemon's own).", valueName: "dir"),
        completion: .directory)
    var directory: String?
}

/// The action if a file's name is taken. `add` and `update` have this option.
struct ConflictOption: ParsableArguments {
    @Option(
        name: .customLong("on-conflict"),
        help: ArgumentHelp("Action if the name is taken (default of a new task: rename).", valueName: "policy"))
    var policy: EnumArgument<ConflictPolicy>?
}

/// The digest of a task's file. `add` and `update` have this option.
struct ChecksumOption: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Refuse the file unless it has this digest: sha-256=HEX (or sha-512, sha-384, sha-224, blake2b, sha-1, md5), "
                + "HEX alone, sha256-BASE64, or a line of a checksum file.",
            valueName: "digest"),
        transform: Checksum.option)
    var checksum: Checksum?
}

/// The header fields of a request. `add`, `update` and `profile set` have this option.
struct HeaderOption: ParsableArguments {
    @Option(
        name: [.customShort("H"), .customLong("header")],
        help: ArgumentHelp(
            "Send this request header; @FILE reads lines of them, @- standard input; may be repeated. A change replaces the "
                + "earlier ones.", valueName: "name: value"), transform: HeaderArgument.argument)
    var arguments: [HeaderArgument] = []
}

/// Options for the group and the slot of a single task. `add` has these; a batch is a group of its own.
struct PlaceOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Put it into this group.", valueName: "name"), completion: .daemon(.groups))
    var group: String?

    @Option(
        help: ArgumentHelp("Add it to this slot; the task that occupies the slot is cancelled.", valueName: "name"),
        completion: .daemon(.slots))
    var slot: String?
}

/// Options for the response of an added task. Profiles do not have them.
struct ResponseOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Parser of the stored response; may be repeated.", valueName: "parser"))
    var parse: [EnumArgument<ResponseParser>] = []

    @Flag(help: "Omit null members from the parsed result.")
    var stripNulls = false
}

/// The profile and the cookies of an added task.
struct SessionOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Profile that supplies options left unset here.", valueName: "name"),
        completion: .daemon(.profiles))
    var profile: String?

    @Option(
        name: [.customShort("b"), .customLong("cookie")],
        help: ArgumentHelp(
            "Send the cookies in this file (cookies.txt, Netscape format), each to the servers it is for; - is standard "
                + "input. NAME=VALUE is sent unchanged.", valueName: "file"),
        completion: .file(), transform: CookieArgument.argument)
    var cookie: CookieArgument?

    @OptionGroup var trust: TrustOptions
    @OptionGroup var socket: SocketOptions

    @Flag(help: "Send . and .. in the URLs' paths as they are.")
    var pathAsIs = false

    @Flag(inversion: .prefixedNo, help: "Send and keep the profile's cookies.")
    var cookies: Bool?

    /// The header field of `-b NAME=VALUE`.
    var cookieField: HeaderField? {
        guard case .value(let text) = cookie else { return nil }
        return HeaderField(name: "Cookie", value: text)
    }
}

/// A file of cookies, or a `Cookie` field's value: a text with `=` is a value, as with curl.
enum CookieArgument: Hashable, Sendable, ExplainedArgument {
    static var expected: String { "a file, or NAME=VALUE without control characters" }

    case file(String)
    case value(String)

    init?(argument: String) {
        guard !argument.isEmpty, argument.utf8.allSatisfy({ $0 >= 0x20 && $0 != 0x7f }) else { return nil }
        self = argument.contains("=") ? .value(argument) : .file(argument)
    }
}
