import CCurl
import XferCore
import XferModel

/// A `multipart/form-data` content (RFC 7578) made by libcurl.
///
/// All hops of an attempt share one form, because libcurl draws a new random boundary for each form.
///
/// Confined to the loop's thread. `ContentReader` reads the parts, not libcurl: libcurl does not detect a changed file,
/// and does not stop at a file that is too short.
final class MultipartForm {
    let mime: OpaquePointer
    let readers: [ContentReader]
    /// The handle for all requests with the form, and for no others. libcurl rewinds a form only on the handle that
    /// has read it. On another handle, a sent form would be empty, and the server would wait for its bytes.
    var carrier: EasyHandle?
    /// The handle that owns the form for libcurl; outlives the form.
    private let owner: UnsafeMutableRawPointer

    init(_ parts: [AttemptPart]) throws(TransferError) {
        guard let owner = curl_easy_init() else { throw Self.outOfMemory }
        guard let mime = curl_mime_init(owner) else {
            curl_easy_cleanup(owner)
            throw Self.outOfMemory
        }
        self.owner = owner
        self.mime = mime
        readers = parts.map { part in
            switch part.content {
            case .bytes(let bytes): ContentReader(GuardedSource(bytes))
            case .file(let file): ContentReader(GuardedSource(file))
            }
        }
        for (part, reader) in zip(parts, readers) { try Self.add(part, reader, to: mime) }
    }

    deinit {
        curl_mime_free(mime)
        curl_easy_cleanup(owner)
    }

    private static func add(_ part: AttemptPart, _ reader: ContentReader, to mime: OpaquePointer) throws(TransferError)
    {
        guard let added = curl_mime_addpart(mime) else { throw outOfMemory }
        // libcurl escapes quotes and line breaks in names; a NUL would end them early.
        let texts = [part.name, part.filename ?? "", part.contentType ?? ""]
        guard !texts.contains(where: { $0.utf8.contains(0) }) else {
            throw TransferError(.internalError, "a part's name, file name or type contains NUL")
        }
        let fields = try HeaderList(part.headers, addingDefaults: false)
        var codes = [curl_mime_name(added, quotable(part.name))]
        if let filename = part.filename { codes.append(curl_mime_filename(added, quotable(filename))) }
        if let type = part.contentType ?? FilePartType.implied(by: part) {
            // libcurl writes the type into a header line without escaping it.
            guard HeaderList.isClean(type) else {
                throw TransferError(.internalError, "a part's type contains a line break")
            }
            codes.append(curl_mime_type(added, type))
        }
        // The form retains the reader, so the reader lives as long as libcurl may call it.
        let context = Unmanaged.passUnretained(reader).toOpaque()
        codes.append(
            curl_mime_data_cb(
                added, curl_off_t(clamping: reader.length), curlPartCallback, curlPartSeekCallback, nil, context))
        if let list = fields.release() { codes.append(curl_mime_headers(added, list, 1)) }
        if codes.contains(where: { $0 != CURLE_OK }) { throw outOfMemory }
    }

    /// Escapes backslashes, which libcurl does not. Within quotes a backslash escapes the next character (RFC 2045
    /// §5.1, RFC 5322 §3.2.4), so one at the end of a name would escape the closing quote.
    private static func quotable(_ name: String) -> String { name.replacing("\\", with: "\\\\") }

    private static var outOfMemory: TransferError {
        TransferError(.internalError, "out of memory", isRetriable: true)
    }
}

/// The media type of a form's file for which the client set none (RFC 7578 §4.4).
enum FilePartType {
    /// The content type implied by the name of a part's file. Nil for a part that is not a file, and for one whose own
    /// header fields state a type.
    static func implied(by part: AttemptPart) -> String? {
        let isFile = if case .file = part.content { true } else { part.filename != nil }
        guard isFile, part.headers.firstValue(named: "Content-Type") == nil else { return nil }
        return FileMediaTypes.type(ofFileNamed: part.filename ?? "") ?? fallback
    }

    private static let fallback = "application/octet-stream"
}
