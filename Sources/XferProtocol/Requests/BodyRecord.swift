public import XferModel

/// What a listing tells of what is sent.
public struct BodyRecord: WireRecord, Hashable {
    public var form = OpenEnum(BodySummary.Form.inline)
    public var length: Int64?
    public var file: String?

    public init() {}

    public init(_ summary: BodySummary) {
        form = OpenEnum(summary.form)
        length = summary.length
        file = summary.path
    }

    public static let summary = "What is sent, without the bytes themselves."
    public static let wireFields: WireFields<Self> = [
        .required("form", \.form, "Whether it is kept with the task, a file, or a form's parts."),
        .optional("length", \.length, "Bytes; absent for parts."),
        .optional("file", \.file, "The file it is read from."),
    ]
}

extension BodySummary.Form: WireEnum {}
extension UploadProtocol: WireEnum {}
extension ResponseParser: WireEnum {}
