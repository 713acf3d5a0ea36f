public import StrictJSON
public import XferModel

/// The proxy of a request: its URL alone, or an object.
public struct ProxyRecord: WireValue, Hashable {
    public var form: Form

    /// The form for a proxy with more fields than the URL.
    public struct Form: WireInput, Hashable {
        public var url = ""
        public var credential: CredentialRecord?
        public var noProxy: [String]?

        public init() {}

        public static let schemaName = "ProxyForm"
        public static let summary = "A proxy, its login, and the hosts that are reached without it."
        public static let wireFields: WireFields<Self> = [
            .required(
                "url", \.url, "http://, https://, socks5:// or socks5h:// with host and port; no user info.",
                .length(1...512),
                .printable, example: "http://proxy.example.org:3128"),
            .optional("credential", \.credential, "Credential for the proxy; basic, digest or negotiate."),
            .optional(
                "no_proxy", \.noProxy,
                "Hosts that are reached directly: names with their subdomains, addresses, CIDR blocks; * is all.",
                .count(0...256)),
        ]

        public func validate() throws(WireError) {
            for (index, item) in (noProxy ?? []).enumerated() {
                let isFine = !item.isEmpty && item.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7f && $0 != UInt8(ascii: ",") }
                guard isFine else {
                    throw WireError(.invalidValue, at: "no_proxy[\(index)]", expected: "a name, an address or a block")
                }
            }
        }
    }

    public init(url: String) {
        form = Form()
        form.url = url
    }

    /// The proxy in the form in which it is shown.
    public init(masking proxy: ProxySettings) {
        self.init(url: Redaction.url(proxy.url))
        form.credential = proxy.credential.map { CredentialRecord(masking: $0) }
        form.noProxy = proxy.exceptions.isEmpty ? nil : proxy.exceptions
    }

    public init(wire value: JSONValue, mode: WireMode) throws(WireError) {
        switch value {
        case .string(let url):
            guard mode == .lenient || !url.isEmpty else { throw WireError(.invalidValue, expected: "a proxy's URL") }
            form = Form()
            form.url = url
        case .object:
            form = try Form(wire: value, mode: mode)
        default: throw .wrongType(expected: "a proxy's URL, or an object with url")
        }
    }

    public var wire: JSONValue {
        form.credential == nil && form.noProxy == nil ? .string(form.url) : form.wire
    }

    public static func schema(in schemas: inout WireSchemas) -> JSONValue {
        ["anyOf": [["type": "string", "minLength": 1], Form.schema(in: &schemas)]]
    }

    /// The proxy's settings; the URL has not been validated.
    public var settings: ProxySettings {
        ProxySettings(url: form.url, credential: form.credential?.credential, exceptions: form.noProxy ?? [])
    }
}
