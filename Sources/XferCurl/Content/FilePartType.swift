import XferModel

/// The media type of a form's file whose client gave none (RFC 7578 §4.4).
///
/// The known extensions are those that libcurl's mime API knows, so a form is the one that curl would send.
enum FilePartType {
    private static let known = [
        "gif": "image/gif", "jpg": "image/jpeg", "jpeg": "image/jpeg", "png": "image/png", "svg": "image/svg+xml",
        "txt": "text/plain", "htm": "text/html", "html": "text/html", "pdf": "application/pdf",
        "xml": "application/xml",
    ]

    /// Nil for a part that is not a file, and for one whose own header fields state a type.
    static func implied(by part: AttemptPart) -> String? {
        let isFile = if case .file = part.content { true } else { part.filename != nil }
        guard isFile, part.headers.firstValue(named: "Content-Type") == nil else { return nil }
        let name = part.filename ?? ""
        guard let dot = name.lastIndex(of: ".") else { return fallback }
        return known[name[name.index(after: dot)...].lowercased()] ?? fallback
    }

    private static let fallback = "application/octet-stream"
}
