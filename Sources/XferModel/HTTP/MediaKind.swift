/// What a media type (RFC 9110 §8.3) says about the use of a body. Sign-in pages and errors that come with status 200
/// are of another kind than the file in whose place they come.
public enum MediaKind: Hashable, Sendable {
    /// HTML, for people.
    case page
    /// JSON or XML, for programs.
    case data
    case text
    /// Everything else: archives, images, `application/octet-stream`.
    case file

    /// - Parameter type: lower case, without parameters; nil for nil.
    public init?(_ type: String?) {
        guard let type else { return nil }
        switch type {
        case "text/html", "application/xhtml+xml": self = .page
        case "application/json", "application/xml", "text/xml", "text/json": self = .data
        default:
            let isForPrograms = type.hasSuffix("+json") || type.hasSuffix("+xml")
            if type.hasPrefix("text/") {
                self = .text
            } else {
                self = isForPrograms && type.hasPrefix("application/") ? .data : .file
            }
        }
    }

    /// Whether a file of this name is hardly a web page: its extension is none that pages have. A name without an
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
    /// Of pages and of programs that make pages, and the top-level domains that names of pages end in most often.
    private static let pageEndings: Set<String> = [
        "html", "htm", "xhtml", "xht", "shtml", "mhtml", "php", "php3", "php4", "php5", "phtml", "asp", "aspx", "ashx",
        "jsp", "jspx", "jsf", "cgi", "pl", "py", "rb", "do", "action", "cfm", "fcgi", "com", "org", "net", "io", "dev",
    ]
}

extension TransferTask {
    /// What is odd about a completed download, for people; nil if nothing is: a web page under a name that no page has.
    public var warning: String? {
        guard state == .completed, specification.kind == .download, !outcome.skipped, !outcome.notModified,
            let name = outcome.finalPath?.split(separator: "/").last
        else { return nil }
        return Self.warning(aboutType: outcome.responseHeaders.firstValue(named: "Content-Type"), named: String(name))
    }

    /// - Parameter type: `Content-Type` as received.
    public static func warning(aboutType type: String?, named name: String) -> String? {
        let mediaType = type.map { $0.prefix { $0 != ";" }.filter { $0 != " " && $0 != "\t" }.lowercased() }
        guard MediaKind(mediaType) == .page, MediaKind.isHardlyPage(name) else { return nil }
        return "the server sent a web page (\(mediaType ?? "text/html")) as \(name)"
    }
}
