public import XferModel

/// Makes a request from a client's fields, its profile and the service's defaults; AFHTTPRequestSerializer's
/// `requestWithMethod:URLString:parameters:`.
///
/// A field that the client set has priority, then the profile's, then the default. The result is kept with the task, so
/// that a later change of the profile does not affect it; only credentials and cookies are read from the profile at
/// each attempt.
public enum RequestBuilder {
    /// Writes a text in UTF-8 alone.
    public static let utf8: TextEncoding = { text, charset in charset == .utf8 ? Array(text.utf8) : nil }

    /// The content of a request, before its files are opened.
    public enum Content: Hashable, Sendable {
        case inline(InlineBytes)
        case file(FileReference)
        case parts([RequestPart])
    }

    /// Longest URL with its parameters, in bytes.
    public static let longestURL = 16 << 10

    /// Builds the request of a new task, and its content.
    ///
    /// - Parameters:
    ///   - url: the resolved URL of the client.
    ///   - userInfo: the user info of that URL; a `credential` has priority.
    ///   - encoding: writes a form's texts in its charset.
    public static func build(
        _ fields: RequestFields, url: HTTPURL, userInfo: Credential? = nil, profile: Profile? = nil,
        encoding: TextEncoding = utf8
    ) throws(RequestFault) -> (request: TransferRequest, content: Content?) {
        let method = fields.effectiveMethod
        guard method.allowsContent || fields.content == nil else {
            throw RequestFault(
                field: fields.content?.field ?? "body", reason: "a \(method.rawValue) request sends no content",
                expected: "no content, or another method")
        }
        var headers = HeaderDefaults(fields.headers)
        let (target, content) = try place(
            fields, method: method, target: url.target, encoding, headers: &headers)
        headers.add(profile?.headers ?? [], except: fields.unsetHeaders)
        if let languages = AcceptLanguage.value(for: profile?.languages ?? []) {
            headers.add([HeaderField(name: "Accept-Language", value: languages)], except: fields.unsetHeaders)
        }
        var request = TransferRequest(
            url: HTTPURL(scheme: url.scheme, host: url.host, port: url.port, target: target), method: method,
            headers: headers.fields, headerRules: profile?.headerRules ?? [],
            timeouts: defaultTimeouts(for: fields.kind))
        let choices = profile.map { fields.choices.completed(by: $0.choices) } ?? fields.choices
        request.apply(choices)
        request.acceptedTypes = try types(choices.acceptedTypes.applied(to: nil) ?? [])
        request.proxy = fields.proxy.applied(to: profile?.proxy)
        request.clientCertificate = fields.clientCertificate.applied(to: nil)
        request.credential = fields.credential.map { $0.completed(by: userInfo) }.applied(to: userInfo)
        // Each is cleared by its own field only, and replaced by a value of the client's own.
        request.usesProfileCredential =
            profile?.credential != nil && request.credential == nil && fields.credential != .clear
        request.usesProfileCertificate =
            profile?.clientCertificate != nil && request.clientCertificate == nil && fields.clientCertificate != .clear
        request.usesCookies = try usesCookies(fields, profile)
        request.refusesCookies = fields.usesCookies == .set(false)
        request.cookies = fields.cookies
        request.caching = try caching(fields, choices, profile, isPlainGet: method == .get && content == nil)
        headers.add(request.caching.policy.fieldsForOtherCaches, except: fields.unsetHeaders)
        request.headers = headers.fields
        return (request, content)
    }

    /// The idle timeout, in seconds, of a task whose client and profile set none: SDWebImage's 15 s for data, 60 s for
    /// files.
    public static func defaultTimeouts(for kind: TaskKind) -> Timeouts {
        Timeouts(connect: 30, idle: kind == .data ? 15 : 60, total: 0)
    }

    // MARK: Client's fields, profile's fields, defaults

    /// The caching options. Policies that use the cache store the responses unless the task or the profile sets
    /// otherwise.
    private static func caching(
        _ fields: RequestFields, _ choices: TransferRequest.Choices, _ profile: Profile?, isPlainGet: Bool
    ) throws(RequestFault) -> CachingOptions {
        guard isPlainGet, fields.kind != .upload else {
            if case .set(let policy) = fields.cachePolicy, policy.usesCache { throw notKept("cache_policy") }
            if fields.storesResponses == .set(true) { throw notKept("store") }
            return CachingOptions()
        }
        let policy = choices.cachePolicy.applied(to: nil) ?? .reload
        let keepsByItself = policy.usesCache && policy != .onlyIfCached
        return CachingOptions(
            policy: policy, stores: choices.storesResponses.applied(to: nil) ?? keepsByItself,
            key: fields.cacheKey.applied(to: profile?.cacheKey))
    }

    private static func notKept(_ field: String) -> RequestFault {
        RequestFault(
            field: field, reason: "only responses to GET requests that send nothing are kept",
            expected: "a GET request, or no \(field)")
    }

    static func types(_ texts: [String]) throws(RequestFault) -> [String] {
        do throws(UnknownMediaType) {
            return try MediaTypePresets.expand(texts)
        } catch {
            throw RequestFault(
                field: "accept_types[\(error.index)]", reason: "neither a media type nor a range nor a preset",
                expected: "type/subtype, type/*, */* or one of " + MediaTypePresets.names.joined(separator: ", "))
        }
    }

    private static func usesCookies(_ fields: RequestFields, _ profile: Profile?) throws(RequestFault) -> Bool {
        let wanted = fields.usesCookies.applied(to: fields.cookies.isEmpty ? profile?.keepsCookies : false) ?? false
        guard !wanted || fields.cookies.isEmpty else {
            throw RequestFault(
                field: "cookie_list", reason: "a task uses the profile's cookies or its own",
                expected: "cookies or cookie_list, not both")
        }
        guard !wanted || profile != nil else {
            throw RequestFault(
                field: "cookies", reason: "cookies are kept in the jar of a profile",
                expected: "a profile with cookies")
        }
        return wanted
    }

    // MARK: Parameters and content

    /// Puts the parameters into the URL or the content.
    private static func place(
        _ fields: RequestFields, method: HTTPMethod, target: String, _ encoding: TextEncoding,
        headers: inout HeaderDefaults
    ) throws(RequestFault) -> (target: String, content: Content?) {
        let content = fields.content
        func encoded() throws(RequestFault) -> Content? {
            guard let content else { return nil }
            return try encode(content, encoding, headers: &headers)
        }
        guard let parameters = fields.parameters else { return (target, try encoded()) }
        if method.putsParametersInQuery {
            let target = appending(FormEncoding.encode(parameters), to: target)
            guard target.utf8.count <= longestURL else {
                throw RequestFault(
                    field: "params", reason: "the URL would be longer than \(longestURL) bytes",
                    expected: "fewer parameters, or a method that sends content")
            }
            return (target, try encoded())
        }
        switch content {
        case nil: return (target, try encode(.form(parameters), encoding, headers: &headers))
        case .parts(let parts):
            let fields = FormEncoding.pairs(of: parameters).map { pair in
                RequestPart(name: pair.name, content: .bytes(InlineBytes(Array((pair.value ?? "").utf8))))
            }
            return (target, .parts(fields + parts))
        case .form, .json, .bytes, .file:
            throw RequestFault(
                field: "params", reason: "a \(method.rawValue) request's parameters are its content",
                expected: "params, or body, or parts with params before them")
        }
    }

    private static func encode(
        _ content: RequestContent, _ encoding: TextEncoding, headers: inout HeaderDefaults
    ) throws(RequestFault) -> Content {
        switch content {
        case .form(let parameters, .utf8):
            headers.add([HeaderField(name: "Content-Type", value: FormEncoding.mediaType)])
            return .inline(InlineBytes(Array(FormEncoding.encode(parameters).utf8)))
        case .form(let parameters, let charset):
            guard let text = FormEncoding.encode(parameters, octets: { encoding($0, charset) }) else {
                throw RequestFault(
                    field: "body.form", reason: "it has a character that cannot be written in \(charset.rawValue)",
                    expected: "characters of the charset, or charset utf-8")
            }
            // The type has no parameters in the registry. Servers that look for one find it.
            let type = "\(FormEncoding.mediaType); charset=\(charset.rawValue)"
            headers.add([HeaderField(name: "Content-Type", value: type)])
            return .inline(InlineBytes(Array(text.utf8)))
        case .json(let text):
            headers.add([HeaderField(name: "Content-Type", value: "application/json")])
            return .inline(text)
        case .bytes(let bytes): return .inline(bytes)
        case .file(let file): return .file(file)
        case .parts(let parts): return .parts(parts)
        }
    }

    private static func appending(_ query: String, to target: String) -> String {
        if query.isEmpty { return target }
        guard target.contains("?") else { return "\(target)?\(query)" }
        return target.hasSuffix("?") || target.hasSuffix("&") ? target + query : "\(target)&\(query)"
    }
}

/// Writes a text in an encoding; nil if a character has no form in it.
public typealias TextEncoding = @Sendable (_ text: String, _ charset: FormCharset) -> [UInt8]?

/// The reason why a request cannot be made from its fields.
public struct RequestFault: Error, Hashable, Sendable, CustomStringConvertible {
    /// The field at fault: `params`, `accept_types[1]`.
    public let field: String
    public let reason: String
    /// A description of valid values; nil if the value is valid, but not allowed for this caller.
    public let expected: String?

    public var description: String { "\(field): \(reason)" }
}

/// Adds header fields to a request if it has none of the same name.
private struct HeaderDefaults {
    private(set) var fields: [HeaderField]

    init(_ own: [HeaderField]) { fields = own }

    /// Adds absent fields; several of one name are added together.
    mutating func add(_ defaults: [HeaderField], except unwanted: [String] = []) {
        let present = fields
        for field in defaults {
            let isTaken = present.contains { $0.name.equalsIgnoringASCIICase(field.name) }
            let isUnwanted = unwanted.contains { $0.equalsIgnoringASCIICase(field.name) }
            if !isTaken && !isUnwanted { fields.append(field) }
        }
    }
}

extension RequestContent {
    /// The field of the fault.
    fileprivate var field: String {
        switch self {
        case .parts: "parts"
        case .file(let file): file.field.hasPrefix("source") ? "source" : "body"
        case .form, .json, .bytes: "body"
        }
    }
}

/// The Accept-Language field (RFC 9110 §12.5.4) as AFHTTPRequestSerializer makes it.
public enum AcceptLanguage {
    /// All languages in order of preference, with falling weights from 1.0; nil without languages.
    ///
    /// Up to ten have the weights 1.0, 0.9 … 0.1, of which AFHTTPRequestSerializer sends the first five. More have
    /// smaller steps: a weight has three digits at most, and 0 would refuse the language (§12.4.2).
    public static func value(for languages: [String]) -> String? {
        guard !languages.isEmpty else { return nil }
        let step = languages.count <= 10 ? 100 : max(1, 1000 / languages.count)
        return languages.enumerated().map { index, language in
            "\(language);q=\(weight(max(1, 1000 - min(index, 999) * step)))"
        }.joined(separator: ", ")
    }

    /// Thousandths as a decimal number with one to three digits after the point.
    private static func weight(_ thousandths: Int) -> String {
        var digits = String(thousandths + 1000).suffix(3)
        while digits.count > 1, digits.last == "0" { digits.removeLast() }
        return "\(thousandths / 1000).\(digits)"
    }

    /// A language tag (RFC 5646 §2.1, its characters and lengths), or `*`.
    public static func isTag(_ text: String) -> Bool {
        if text == "*" { return true }
        return text.split(separator: "-", omittingEmptySubsequences: false).allSatisfy { subtag in
            (1...8).contains(subtag.utf8.count)
                && subtag.utf8.allSatisfy { (48...57).contains($0) || (97...122).contains($0 | 0x20) }
        }
    }
}
