/// The kind of a body that a media type (RFC 9110 §8.3) describes. Sign-in pages and errors with status 200 are of
/// another kind than the file that was requested.
public enum MediaKind: Hashable, Sendable {
    /// A page for people: HTML.
    case page
    /// JSON, XML, YAML and forms, for programs: the answers of interfaces, errors too.
    case data
    /// Text of any other kind, including scripts.
    case text
    /// Any other type: archives, images, `application/octet-stream`.
    case file

    /// - Parameter type: lower case, without parameters; nil for nil.
    public init?(_ type: String?) {
        guard let type else { return nil }
        switch type {
        case "text/html", "application/xhtml+xml", "application/vnd.wap.xhtml+xml", "text/vnd.wap.wml": self = .page
        case "message/http": self = .text
        default: self = Self.kind(of: type)
        }
    }

    private static func kind(of type: String) -> MediaKind {
        let parts = type.split(separator: "/", maxSplits: 1)
        guard parts.count == 2, parts[0] == "application" || parts[0] == "text" else { return .file }
        let name = parts[1].hasPrefix("x-") ? parts[1].dropFirst(2) : parts[1]
        let isForPrograms =
            dataNames.contains(String(name)) || ["+json", "+json-seq", "+xml", "+yaml"].contains { name.hasSuffix($0) }
        if isForPrograms { return .data }
        return parts[0] == "text" || scriptNames.contains(String(name)) ? .text : .file
    }

    /// Subtypes of `application` and `text`, without `x-`.
    private static let dataNames: Set<String> = [
        "json", "json5", "json-seq", "jsonl", "jsonlines", "ndjson", "xml", "xml-dtd", "yaml", "www-form-urlencoded",
    ]
    private static let scriptNames: Set<String> = ["javascript", "ecmascript"]

    /// True if a file of this name is hardly a web page: its extension is none that pages have. A name without an
    /// extension may be one.
    public static func isHardlyPage(_ name: String) -> Bool {
        guard let dot = name.lastIndex(of: "."), dot != name.startIndex else { return false }
        let ending = name[name.index(after: dot)...].lowercased()
        let isExtension =
            (1...8).contains(ending.utf8.count)
            && ending.utf8.allSatisfy { UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || letters ~= $0 }
            && ending.utf8.contains { letters ~= $0 }
        return isExtension && !pageEndings.contains(ending)
    }

    private static let letters = UInt8(ascii: "a")...UInt8(ascii: "z")
    /// Extensions of pages and of programs that make pages, and the most frequent top-level domains in the names of
    /// pages.
    private static let pageEndings: Set<String> = [
        "html", "htm", "xhtml", "xht", "shtml", "mhtml", "php", "php3", "php4", "php5", "phtml", "asp", "aspx", "ashx",
        "jsp", "jspx", "jsf", "cgi", "pl", "py", "rb", "do", "action", "cfm", "fcgi", "com", "org", "net", "io", "dev",
    ]
}

extension TransferTask {
    /// A warning about a completed or staged download for people, or nil: the server sent a web page where the file's
    /// name or the URL suggests another file.
    public var warning: String? {
        guard [.completed, .staged].contains(state), specification.kind == .download, !outcome.skipped,
            !outcome.notModified, state == .staged || outcome.finalPath != nil
        else { return nil }
        return specification.warning(
            aboutType: outcome.responseHeaders.firstValue(named: "Content-Type"),
            named: outcome.finalPath?.split(separator: "/").last.map { String($0) })
    }
}

extension TaskSpecification {
    /// A warning if the server sent a web page as a file of another kind.
    ///
    /// A redirect to a sign-in page gives the file the name of the page, so the requested URL counts, too, unless the
    /// client has chosen a name.
    ///
    /// - Parameters:
    ///   - type: `Content-Type` as received.
    ///   - name: the file's final name; nil if it has none yet.
    public func warning(aboutType type: String?, named name: @autoclosure () -> String?) -> String? {
        let mediaType = type.map { $0.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased() }
        guard let mediaType, MediaKind(mediaType) == .page else { return nil }
        if let fileName = name() ?? destination.name, MediaKind.isHardlyPage(fileName) {
            return "the server sent a web page (\(mediaType)) as \(fileName)"
        }
        let requested = String(request.url.lastPathSegment.suffix(Self.maxWarnedName))
        guard destination.name == nil, MediaKind.isHardlyPage(requested) else { return nil }
        return "the server sent a web page (\(mediaType)) in place of \(requested)"
    }

    /// The longest part of a URL in a warning, in characters.
    private static var maxWarnedName: Int { 255 }
}
