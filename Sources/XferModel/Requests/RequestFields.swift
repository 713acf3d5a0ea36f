/// The fields of a request in the client's form. A missing field has the profile's default or the service's; a cleared
/// one has the service's.
///
/// The file paths in these fields have not been checked yet.
@dynamicMemberLookup
public struct RequestFields: Hashable, Sendable {
    public var kind: TaskKind
    /// Name of the profile that supplies the defaults.
    public var profile: String?
    public var method: HTTPMethod?
    public var headers: [HeaderField] = []
    /// Names of the profile's header fields that are not sent.
    public var unsetHeaders: [String] = []
    public var parameters: [Parameter]?
    public var content: RequestContent?
    public var uploadProtocol = UploadProtocol.plain
    public var credential = Patch<Credential>.unchanged
    public var clientCertificate = Patch<ClientCertificateFiles>.unchanged
    public var usesCookies = Patch<Bool>.unchanged
    public var cookies: [RequestCookie] = []
    public var proxy = Patch<ProxySettings>.unchanged
    public var choices = TransferRequest.Choices()
    public var cacheKey = Patch<CacheKeyRule>.unchanged

    public init(kind: TaskKind = .download) { self.kind = kind }

    public subscript<Value>(
        dynamicMember choice: WritableKeyPath<TransferRequest.Choices, Patch<Value>>
    ) -> Patch<Value> {
        get { choices[keyPath: choice] }
        set { choices[keyPath: choice] = newValue }
    }

    /// The client's method, or the default: PUT for a plain upload of a file, POST for any other upload or content,
    /// else GET.
    public var effectiveMethod: HTTPMethod {
        if let method { return method }
        guard let content else { return kind == .upload ? .post : .get }
        if kind == .upload, uploadProtocol == .plain, case .file = content { return .put }
        return .post
    }
}

/// The content that a client requests to send, before its files were checked.
public enum RequestContent: Hashable, Sendable {
    /// `application/x-www-form-urlencoded`; empty is a form without fields.
    case form([Parameter], charset: FormCharset = .utf8)
    /// JSON text.
    case json(InlineBytes)
    /// Bytes; only a header field can give their media type.
    case bytes(InlineBytes)
    case file(FileReference)
    /// A form with parts: `multipart/form-data`.
    case parts([RequestPart])
}

/// A file that a client named.
public struct FileReference: Hashable, Sendable {
    public var path: String
    /// The name of its field, for errors: `source`, `body.file`, `parts[2].file`.
    public var field: String

    public init(path: String, field: String) {
        self.path = path
        self.field = field
    }
}

/// A part of a form, as a client requests it. Without a `filename` a file part sends the file's own name, and a part of
/// bytes sends none.
public typealias RequestPart = FormPart<RequestPartContent>

/// The content of a requested part.
public enum RequestPartContent: Hashable, Sendable {
    case bytes(InlineBytes)
    case file(FileReference)
}

/// A named value of a query, a form or a form's parts. Lists and objects are flattened as AFNetworking does.
public struct Parameter: Hashable, Sendable {
    public var name: String
    public var value: ParameterValue

    public init(_ name: String, _ value: ParameterValue) {
        self.name = name
        self.value = value
    }
}

/// The value of a parameter. Each case states how the parameter's name is written.
public indirect enum ParameterValue: Hashable, Sendable {
    /// The field's name alone, without `=`.
    case null
    case text(String)
    /// `name[]`, once for every element.
    case list([ParameterValue])
    /// The members of an object: `name[member]`.
    case object([Parameter])
}
