import ArgumentParser
import StrictJSON
import XferModel
import XferProtocol

/// Options for the content that an added task sends, similar to curl's.
struct ContentOptions: ParsableArguments {
    @Option(
        name: [.customShort("X"), .customLong("request")],
        help: ArgumentHelp(
            "The method, such as DELETE or PROPFIND (default: GET; POST with content; PUT with -T).",
            valueName: "method"),
        completion: .list(HTTPMethod.common.map(\.rawValue)), transform: Self.method)
    var method: HTTPMethod?

    @Option(
        help: ArgumentHelp(
            "download: the response goes to a file. data: it is kept for `xferctl result`. upload: as data. Without this: "
                + "upload with -T, data with other content or a method other than GET, unless -o, -O or -d is given.",
            valueName: "kind"))
    var kind: EnumArgument<TaskKind>?

    @Option(
        name: .customLong("param"),
        help: ArgumentHelp(
            "A query parameter, or a form field if the method sends content; may be repeated.",
            valueName: "name=value"), transform: PairArgument.argument)
    var parameters: [PairArgument] = []

    @Option(
        name: [.customLong("data")],
        help: ArgumentHelp(
            "Send this as a form; @FILE reads it from a file, without its line breaks; several are joined with &.",
            valueName: "text"))
    var data: [String] = []

    @Option(
        help: ArgumentHelp(
            "Send this text unchanged; @FILE streams a file of any length. Without -H or --profile its type is a form's.",
            valueName: "text"),
        completion: .file())
    var dataBinary: String?

    @Option(
        help: ArgumentHelp("Send this JSON; @FILE reads it from a file.", valueName: "json"))
    var jsonBody: String?

    @Option(
        name: [.customShort("F"), .customLong("form")],
        help: ArgumentHelp(
            "A part of a multipart form: name=text, name=@FILE, or name=<FILE for a file's text, then ;type= and ;filename= if needed; may be repeated.",
            valueName: "part"))
    var parts: [String] = []

    @Option(
        name: [.customShort("T"), .customLong("upload-file")],
        help: ArgumentHelp(
            "Upload this file; its name is added to a URL that ends in /. It must not change until it is sent.",
            valueName: "file"),
        completion: .file())
    var uploadFile: String?

    @Option(
        help: ArgumentHelp(
            "Protocol of the upload; all but plain let a retry continue at the server's offset (default: plain).",
            valueName: "protocol"))
    var upload: EnumArgument<UploadProtocol>?

    @Option(
        help: ArgumentHelp(
            "Send at most this many bytes in one request of a tus upload, such as 8Mi.", valueName: "size"),
        transform: ByteAmount.argument)
    var chunkSize: ByteAmount?

    @Flag(help: "Send the first bytes in the request that creates a tus upload.")
    var creationWithUpload = false

    @Option(
        help: ArgumentHelp(
            "Send a tus upload in this many parts at the same time, 1 to 16; the server joins them.",
            valueName: "count"), transform: Int.integer)
    var uploadParts: Int?

    @Flag(help: "Copy the files before sending them, so that they may change meanwhile.")
    var spool = false

    @Flag(help: "Repeat a failed POST or PATCH, even if the server may have acted on it.")
    var retryNonIdempotent = false

    mutating func validate() throws {
        let forms = [
            ("--data", !data.isEmpty), ("--data-binary", dataBinary != nil), ("--json-body", jsonBody != nil),
            ("-F", !parts.isEmpty), ("-T", uploadFile != nil),
        ].filter(\.1).map(\.0)
        if forms.count > 1 { throw ValidationError("\(forms[0]) and \(forms[1]) exclude each other.") }
        if upload != nil, forms.isEmpty { throw ValidationError("--upload needs -T FILE, or other data to send.") }
    }

    /// True if anything is sent.
    var hasContent: Bool {
        !data.isEmpty || dataBinary != nil || jsonBody != nil || !parts.isEmpty || uploadFile != nil
    }

    private static func method(_ text: String) throws -> HTTPMethod {
        guard let method = HTTPMethod(anyCase: text) else { throw ValidationError("expected \(HTTPMethod.expected)") }
        return method
    }
}

/// A pair in the form `name=value`.
struct PairArgument: Hashable, Sendable, ExplainedArgument {
    static var expected: String { "NAME=VALUE" }

    let name: String
    let value: String

    init?(argument: String) {
        guard let equals = argument.firstIndex(of: "="), equals != argument.startIndex else { return nil }
        name = String(argument[..<equals])
        value = String(argument[argument.index(after: equals)...])
    }
}
