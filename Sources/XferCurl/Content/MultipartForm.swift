import CCurl
import XferModel

/// A `multipart/form-data` content (RFC 7578) made by libcurl: one for all hops of an attempt, so that its boundary,
/// which is drawn when it is made, stays the same.
///
/// Confined to the loop's thread. Parts are read through guarded readers, never by libcurl itself, which neither
/// detects that a file changes nor ends when one is too short.
final class MultipartForm {
    let mime: OpaquePointer
    let readers: [ContentReader]
    /// The handle for all requests with the form, and for no others. libcurl rewinds a form only where it has read it:
    /// bound to another handle, a sent form would be empty, and the server would wait for it.
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
            // Written as it is, into a header line.
            guard HeaderList.isClean(type) else {
                throw TransferError(.internalError, "a part's type contains a line break")
            }
            codes.append(curl_mime_type(added, type))
        }
        // The form holds the reader, so it lives as long as libcurl may ask for it.
        let context = Unmanaged.passUnretained(reader).toOpaque()
        codes.append(
            curl_mime_data_cb(
                added, curl_off_t(clamping: reader.length), curlPartCallback, curlPartSeekCallback, nil, context))
        if let list = fields.release() { codes.append(curl_mime_headers(added, list, 1)) }
        if codes.contains(where: { $0 != CURLE_OK }) { throw outOfMemory }
    }

    /// Within quotes a backslash escapes the next character (RFC 2045 §5.1, RFC 5322 §3.2.4): one at the end of a name
    /// would escape the closing quote. libcurl does not escape it.
    private static func quotable(_ name: String) -> String { name.replacing("\\", with: "\\\\") }

    private static var outOfMemory: TransferError {
        TransferError(.internalError, "out of memory", isRetriable: true)
    }
}
