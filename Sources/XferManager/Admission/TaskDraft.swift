public import XferModel

/// A task as a client worded it: the URL is text, and nobody has looked at the paths yet.
public struct TaskDraft: Sendable {
    /// As the client wrote it; user info in it becomes a credential.
    public var url: String
    /// The field that named the destination's directory, for errors: `dir` or `output`.
    public var directoryField: String
    /// What the request sends; nil sends nothing.
    public var body: RequestBody?
    /// The rest, once the URL has been read.
    public var specification: @Sendable (_ url: HTTPURL, _ userInfo: Credential?) -> TaskSpecification

    public init(
        url: String, directoryField: String = "dir", body: RequestBody? = nil,
        specification: @escaping @Sendable (_ url: HTTPURL, _ userInfo: Credential?) -> TaskSpecification
    ) {
        self.url = url
        self.directoryField = directoryField
        self.body = body
        self.specification = specification
    }
}

/// A draft that was judged: what becomes the task's row and, beside it, what it sends.
struct AdmittedTask: Sendable {
    var specification: TaskSpecification
    var body: RequestBody?
}
