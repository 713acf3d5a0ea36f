import Glibc
import StrictJSON
import XferModel
import XferProtocol

/// The settings of `-X`, `--data`, `-F`, `-T` and similar options for every added task.
struct ContentTemplate {
    private let options: ContentOptions
    private let paths: PathResolver
    /// True if an option sets the place of the file.
    private let hasDestination: Bool
    /// True if a profile may give the type of the content.
    private let hasProfile: Bool

    init(_ options: ContentOptions, paths: PathResolver, hasDestination: Bool, hasProfile: Bool) {
        self.options = options
        self.paths = paths
        self.hasDestination = hasDestination
        self.hasProfile = hasProfile
    }

    func apply(to task: inout NewTask) throws(CommandFailure) {
        try requireServersFiles()
        try requireFiles()
        task.method = options.method
        task.kind = kind
        if !options.parameters.isEmpty { task.params = parameters }
        task.upload = options.upload?.word
        task.spool = options.spool ? true : nil
        task.chunkSize = options.chunkSize?.bytes
        task.creationWithUpload = options.creationWithUpload ? true : nil
        task.uploadParts = options.uploadParts
        task.limits.retriesNonIdempotent = options.retryNonIdempotent ? .set(true) : .unchanged
        task.source = options.uploadFile.map(paths.absolute)
        if !options.parts.isEmpty {
            task.parts = []
            for text in options.parts { task.parts?.append(try FormPart(text).part(paths)) }
        }
        if let json = options.jsonBody { task.body = try jsonBody(json) }
        if let text = options.dataBinary {
            task.body = try binaryBody(text)
            // The protocols of uploads set the type of their own requests.
            if !hasProfile, options.upload?.word ?? .plain == .plain { addContentType(Self.formType, to: &task) }
        }
        if !options.data.isEmpty {
            task.body = BodyInput()
            task.body?.raw = try formText()
            addContentType(Self.formType, to: &task)
        }
        try requireShort(task)
    }

    private static let fileRemedy = "send it from a file: --data-binary @FILE"
    /// The default Content-Type, as with curl.
    private static let formType = "application/x-www-form-urlencoded"

    /// Requires that the content fits into one message, with room for the other fields.
    private func requireShort(_ task: NewTask) throws(CommandFailure) {
        let body = task.body?.wire.text.utf8.count ?? 0
        let parts = task.parts?.reduce(0) { $0 + $1.wire.text.utf8.count } ?? 0
        guard max(body, parts) > FileText.contentLimit else { return }
        let (option, remedy) =
            if options.jsonBody != nil {
                ("--json-body", "\(Self.fileRemedy) -H 'Content-Type: application/json'")
            } else if !options.data.isEmpty {
                ("--data", Self.fileRemedy)
            } else if parts > body {
                ("-F", "send long parts from files: -F name=@FILE")
            } else {
                ("--data-binary", Self.fileRemedy)
            }
        throw FileText.tooLong(option: option, remedy)
    }

    /// Requires a daemon on this machine: it reads uploads from its own disk.
    private func requireServersFiles() throws(CommandFailure) {
        guard paths.isRemote else { return }
        for (option, file) in try files() where !file.hasPrefix("/") {
            throw .usage(
                "\(option): over --server \(SafeText.sanitised(file)) has to be an absolute path on that machine, and the "
                    + "token needs the scope operate; files of this machine are uploaded by its own daemon")
        }
    }

    /// Requires that files with relative names exist. The daemon judges everything else about them: in a container an
    /// absolute path may exist for it alone.
    private func requireFiles() throws(CommandFailure) {
        guard !paths.namesAreDaemons else { return }
        for (option, file) in try files() {
            let path = paths.absolute(file)
            let found = BoundedLookup.run { _ in
                var facts = stat()
                guard stat(path, &facts) == 0 else { return errno }
                return facts.st_mode & S_IFMT == S_IFDIR ? EISDIR : 0
            }
            guard let found, found == EISDIR || !file.hasPrefix("/") && [ENOENT, ENOTDIR].contains(found) else {
                continue
            }
            throw .usage("\(option): cannot read \(SafeText.sanitised(file)): \(String(cString: strerror(found)))")
        }
    }

    /// The files that the daemon reads, each with its option.
    private func files() throws(CommandFailure) -> [(option: String, file: String)] {
        var files: [(option: String, file: String)] = []
        if let file = options.uploadFile { files.append(("-T", file)) }
        if let text = options.dataBinary, text.hasPrefix("@"), text != "@-" {
            files.append(("--data-binary", String(text.dropFirst())))
        }
        for text in options.parts {
            let part = try FormPart(text)
            if part.isFile { files.append(("-F", part.text)) }
        }
        return files
    }

    private func binaryBody(_ text: String) throws(CommandFailure) -> BodyInput {
        var body = BodyInput()
        if text == "@-" {
            let bytes = try FileText.content(option: "--data-binary", Self.fileRemedy)
            body.raw = String(validating: bytes, as: UTF8.self)
            if body.raw == nil { body.base64 = Base64Text(bytes) }
        } else if text.hasPrefix("@") {
            body.file = paths.absolute(String(text.dropFirst()))
        } else {
            body.raw = text
        }
        return body
    }

    /// A URL that ends in a slash gets the uploaded file's name, as with curl.
    func url(_ text: String) -> String {
        // Where uploads are created is a place of its own, not one for the file.
        guard options.upload?.word ?? .plain == .plain, let file = options.uploadFile, text.hasSuffix("/"),
            let name = file.split(separator: "/").last
        else {
            return text
        }
        return text + name.utf8.map(Self.escaped).joined()
    }

    /// The kind of the task; nil leaves it to the daemon, which downloads.
    private var kind: TaskKind? {
        if let kind = options.kind { return kind.word }
        if options.uploadFile != nil || options.upload != nil { return .upload }
        guard !hasDestination else { return nil }
        return options.hasContent || (options.method.map { $0 != .get } ?? false) ? .data : nil
    }

    /// The parameters as an object; the values of a repeated name become a list.
    private var parameters: JSONObject {
        var object = JSONObject()
        for pair in options.parameters {
            switch object[pair.name] {
            case nil: object[pair.name] = .string(pair.value)
            case .array(let values)?: object[pair.name] = .array(values + [.string(pair.value)])
            case let value?: object[pair.name] = [value, .string(pair.value)]
            }
        }
        return object
    }

    private func jsonBody(_ text: String) throws(CommandFailure) -> BodyInput {
        let json = text.hasPrefix("@") ? try FileText.read(String(text.dropFirst()), option: "--json-body") : text
        var body = BodyInput()
        do throws(JSONSyntaxError) {
            let value = try JSONValue(parsing: json)
            body.json = value == .null ? .clear : .set(value)
        } catch {
            throw .usage("--json-body: not JSON: \(error)")
        }
        return body
    }

    private func formText() throws(CommandFailure) -> String {
        var texts: [String] = []
        for text in options.data {
            guard text.hasPrefix("@") else {
                texts.append(text)
                continue
            }
            let content = try FileText.read(String(text.dropFirst()), option: "--data")
            texts.append(String(decoding: content.utf8.filter { $0 != 0 && $0 != 10 && $0 != 13 }, as: UTF8.self))
        }
        return texts.joined(separator: "&")
    }

    private func addContentType(_ type: String, to task: inout NewTask) {
        var headers = task.headers ?? HeaderChanges([])
        guard headers.set.fields.firstValue(named: "Content-Type") == nil else { return }
        headers.set.fields.append(HeaderField(name: "Content-Type", value: type))
        task.headers = headers
    }

    /// Percent-encodes a byte, unless it is one of RFC 3986's unreserved octets.
    private static func escaped(_ byte: UInt8) -> String {
        let isKept =
            (48...57).contains(byte) || (97...122).contains(byte | 0x20) || "-._~".utf8.contains(byte)
        if isKept && byte < 0x80 { return String(UnicodeScalar(byte)) }
        let digits = String(byte, radix: 16, uppercase: true)
        return "%" + (digits.count == 1 ? "0" : "") + digits
    }
}

/// A part as curl's `-F` takes it: `name=text`, `name=@file`, `name=<file` for the file's text, with `;type=…` and
/// `;filename=…` behind it.
struct FormPart: Hashable {
    var name: String
    /// The text, or the name of the file.
    var text: String
    /// True if the daemon sends the file.
    var isFile: Bool
    /// True if the file's text is the part's.
    var isTextOfFile: Bool
    var type: String?
    var filename: String?

    init(_ argument: String) throws(CommandFailure) {
        guard let equals = argument.firstIndex(of: "="), equals != argument.startIndex else {
            throw .usage("-F: expected name=text or name=@FILE")
        }
        name = String(argument[..<equals])
        var rest = argument[argument.index(after: equals)...]
        isFile = rest.hasPrefix("@")
        isTextOfFile = rest.hasPrefix("<")
        if isFile || isTextOfFile { rest.removeFirst() }
        // From the end, so that a semicolon in the text itself stays.
        while let semicolon = rest.lastIndex(of: ";") {
            let option = rest[rest.index(after: semicolon)...]
            if option.hasPrefix("type=") {
                type = String(option.dropFirst(5))
            } else if option.hasPrefix("filename=") {
                filename = String(option.dropFirst(9))
            } else {
                break
            }
            rest = rest[..<semicolon]
        }
        text = String(rest)
        if isFile || isTextOfFile, text.isEmpty {
            throw .usage("-F: expected a file's name after \(SafeText.sanitised(name))=\(isFile ? "@" : "<")")
        }
        if isFile, text == "-" { throw .usage("-F: standard input cannot be sent as a file; save it to one") }
    }

    /// - Throws: if the file whose text is sent cannot be read.
    func part(_ paths: PathResolver) throws(CommandFailure) -> PartInput {
        var part = PartInput(name: name)
        if isFile {
            part.file = paths.absolute(text)
        } else {
            part.data = isTextOfFile ? try FileText.read(text, option: "-F") : text
        }
        part.contentType = type
        part.filename = filename
        return part
    }
}
