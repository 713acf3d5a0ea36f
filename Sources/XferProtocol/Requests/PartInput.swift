import StrictJSON
import XferModel

/// One part of a `multipart/form-data` body (RFC 7578).
public struct PartInput: WireInput, Hashable {
    public var name = ""
    public var data: String?
    public var base64: Base64Text?
    public var file: String?
    public var filename: String?
    public var contentType: String?
    public var headers: HeaderList?

    public init() {}

    public init(name: String) { self.name = name }

    public static let summary = "One part of a multipart form: data, base64 or file."
    public static let wireFields: WireFields<Self> = [
        .required("name", \.name, "The form field's name.", .length(1...1024), .printable, example: "photo"),
        .optional("data", \.data, "Text, sent as UTF-8."),
        .optional("base64", \.base64, "Bytes."),
        .optional(
            "file", \.file, "Absolute path of a file that is streamed.", .length(1...TaskLimits.pathLength),
            .absolutePath, example: "/srv/photos/1.jpeg"
        )
        .restricted(to: .ownFiles),
        .optional(
            "filename", \.filename, "The name told to the server; default is a file's own, and none for data.",
            .length(1...1024), .printable),
        .optional(
            "content_type", \.contentType, "The part's media type.", .length(1...256), .printable,
            example: "image/jpeg"),
        .optional("headers", \.headers, "Further header fields of the part."),
    ]

    public func validate() throws(WireError) {
        guard [data != nil, base64 != nil, file != nil].count(where: \.self) == 1 else {
            throw WireError(.conflictingFields, expected: "exactly one of data, base64, file")
        }
        let owned = ["Content-Disposition", "Content-Type", "Content-Transfer-Encoding"]
        for field in headers?.fields ?? [] where owned.contains(where: field.name.equalsIgnoringASCIICase) {
            throw WireError(
                .invalidValue, at: "headers.\(field.name)", expected: "no field that the part's other fields make")
        }
    }

    func part(at index: Int) -> RequestPart {
        let content: RequestPart.Content
        if let file {
            content = .file(FileReference(path: file, field: "parts[\(index)].file"))
        } else {
            content = .bytes(InlineBytes(base64?.bytes ?? Array((data ?? "").utf8)))
        }
        return RequestPart(
            name: name, content: content, filename: filename, contentType: contentType, headers: headers?.fields ?? [])
    }
}
