public import XferModel

/// Computes a digest with a secret key (HMAC-SHA-256, RFC 2104), or nil when it cannot be computed. Without the key the
/// digest can be neither computed nor guessed.
public typealias KeyedDigest = @Sendable ([UInt8]) -> [UInt8]?

/// The fields that have to be equal in two tasks that request the same bytes. Then one request serves both tasks, and
/// the failure of one applies to the other.
///
/// The key contains the URL in libcurl's normalised form, the mirrors in their order if there are any, the method, the
/// header fields, the credentials and other secrets of the request, the cookie jar, the profile, the task's own trust
/// policy (the host's policy applies to all tasks), the proxy and redirect options, and the statuses that count as
/// success. It also contains the owner, unless the operator lets owners share. All fields go into a digest with a key
/// of this database, so that no secret can be read from a key or guessed with it. Only GET and HEAD without content
/// have a key.
///
/// Choices that do not affect the bytes are not part of the key: the destination, the checksum, limits on time and
/// rate, the schedule, and the name.
public struct CoalesceKey: Hashable, Sendable {
    /// The digest.
    public let bytes: [UInt8]

    /// Computes the key. Returns nil when the request cannot be shared.
    ///
    /// - Parameter isSharedBetweenOwners: true if tasks of different owners may have the same key.
    public init?(_ specification: TaskSpecification, isSharedBetweenOwners: Bool, digest: KeyedDigest) {
        let request = specification.request
        guard specification.kind != .upload, !request.method.allowsContent, request.bodySummary == nil
        else { return nil }
        var words = CanonicalKeyEncoder()
        words.add(Self.form)
        words.add(isSharedBetweenOwners ? nil : specification.owner.description)
        words.add(specification.policy)
        words.add(specification.profile)
        words.add(request)
        // A task without mirrors has the same key as in earlier versions. The order of mirrors is part of the key,
        // since it is an order of preference.
        if !specification.mirrors.isEmpty { words.add(specification.mirrors) { $0.add($1.string) } }
        words.add(Self.appended, of: specification)
        guard let bytes = digest(words.bytes) else { return nil }
        self.bytes = bytes
    }

    /// The options that are encoded field by field above, in an order that is kept with the rows.
    private static let ordered: Set<String> = [
        "method", "headers", "headerRules", "bodySummary", "credential", "usesProfileCredentials",
        "usesProfileCredential", "usesProfileCertificate", "clientCertificate", "usesCookies", "proxy", "redirect",
        "allowsDowngrade", "firstAcceptedStatus", "lastAcceptedStatus", "mirrors", "cookies",
    ]

    /// All other options on which tasks that share a transfer must agree.
    private static let appended = TaskSpecification.storedOptions.filter {
        $0.sharing == .common && !ordered.contains($0.name)
    }

    /// The digest of a URL alone, to find the keys that are about it.
    public static func digest(of url: HTTPURL, _ digest: KeyedDigest) -> [UInt8]? {
        var words = CanonicalKeyEncoder()
        words.add("url")
        words.add(url.string)
        return digest(words.bytes)
    }

    /// The form of keys. It changes with the contents of a key, so that stored keys of another form match nothing.
    private static let form = "coalesce key 1"
}

/// Encodes a sequence of texts unambiguously: the bytes of a text cannot be read as a part of another text, or as two
/// texts.
struct CanonicalKeyEncoder {
    private(set) var bytes: [UInt8] = []

    init() { bytes.reserveCapacity(512) }

    mutating func add(_ text: String?) {
        guard var text else { return bytes.append(0) }
        bytes.append(1)
        add(count: text.utf8.count)
        text.withUTF8 { bytes.append(contentsOf: $0) }
    }

    mutating func add<Element>(_ elements: [Element], _ body: (inout CanonicalKeyEncoder, Element) -> Void) {
        bytes.append(2)
        add(count: elements.count)
        for element in elements { body(&self, element) }
    }

    /// Adds the options. Options with their defaults add nothing, so that a new option does not change the keys of
    /// older rows.
    mutating func add(_ options: [StoredOption], of specification: TaskSpecification) {
        for option in options where !withUnsafePointer(to: specification, { option.isDefault(in: $0) }) {
            add(option.name)
            add(option.text(in: specification))
        }
    }

    private mutating func add(count: Int) {
        withUnsafeBytes(of: Int64(clamping: count).littleEndian) { bytes.append(contentsOf: $0) }
    }
}

extension CanonicalKeyEncoder {
    mutating func add(_ request: TransferRequest) {
        add(request.url.string)
        add(request.method.rawValue)
        add(fields: request.headers)
        add(request.headerRules) { words, rule in
            words.add(rule.hosts.map(\.description)) { $0.add($1) }
            words.add(fields: rule.set)
            words.add(rule.remove.map { $0.lowercased() }) { $0.add($1) }
        }
        addClaims(of: request)
        add(request.proxy?.url)
        add(request.proxy?.credential)
        add(request.proxy?.exceptions ?? []) { $0.add($1) }
        add(request.redirect.rawValue)
        add(request.allowsDowngrade.description)
        // As `ClosedRange.description`, which would cost more than the digest. Further ranges are a stored option.
        let accepted = request.acceptedStatus.ranges[0]
        add(String(accepted.lowerBound) + "..." + String(accepted.upperBound))
    }

    private mutating func addClaims(of request: TransferRequest) {
        add(request.credential)
        add(request.usesProfileCredential.description)
        add(request.usesProfileCertificate.description)
        add(request.clientCertificate?.certificate)
        add(request.clientCertificate?.key)
        add(request.usesCookies.description)
        // Their descriptions do not have the values. A request without any has the same key as in earlier versions.
        if !request.cookies.isEmpty { add(request.cookies) { $0.add($1.netscapeLine) } }
    }

    /// The identity of the request: its credentials, and its other secrets.
    mutating func addIdentity(of request: TransferRequest) {
        addClaims(of: request)
        add(fields: request.headers.filter { Redaction.isSecretHeader($0.name) })
        add(request.headerRules) { words, rule in
            words.add(rule.hosts.map(\.description)) { $0.add($1) }
            words.add(fields: rule.set.filter { Redaction.isSecretHeader($0.name) })
            words.add(rule.remove.map { $0.lowercased() }) { $0.add($1) }
        }
    }

    /// Adds fields by name, case-insensitive; the order of fields with the same name has a meaning (RFC 9110 §5.3) and
    /// is preserved.
    private mutating func add(fields: [HeaderField]) {
        guard !fields.isEmpty else { return add([String]()) { $0.add($1) } }
        let named = fields.enumerated().map { (name: $1.name.lowercased(), place: $0, value: $1.value) }
        add(named.sorted { ($0.name, $0.place) < ($1.name, $1.place) }) { words, field in
            words.add(field.name)
            words.add(field.value)
        }
    }

    private mutating func add(_ credential: Credential?) {
        add(credential.map { [$0] } ?? []) { words, credential in
            words.add("\(credential.scheme)")
            words.add(credential.user)
            words.add(credential.secret)
            words.add(credential.origins.map(\.text).sorted()) { $0.add($1) }
        }
    }

    /// Adds a secret: a reference by its path or name, an inline secret by the digest of its value.
    private mutating func add(_ secret: Secret) {
        switch secret {
        case .value(let value):
            add("value")
            add(value)
        case .file(let path):
            add("file")
            add(path)
        case .systemdCredential(let name):
            add("systemd credential")
            add(name)
        case .environment(let name):
            add("environment")
            add(name)
        }
    }
}
