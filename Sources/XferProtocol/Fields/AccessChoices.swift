import StrictJSON
public import XferModel

/// A client's choices about the service's identity towards servers, and the way by which it reaches them, for a task or
/// a profile. Where it is shown, secrets are `***`.
public struct AccessChoices: Hashable, Sendable {
    public var credential = Patch<CredentialRecord>.unchanged
    public var clientCert = Patch<ClientCertificateRecord>.unchanged
    /// True if the profile's cookies are used; a profile has `CookieKeeping` instead.
    public var cookies = Patch<Bool>.unchanged
    public var cookieList = Patch<[CookieRecord]>.unchanged
    public var proxy = Patch<ProxyRecord>.unchanged

    public init() {}

    /// The choices of a request in the form in which they are shown.
    init(masking request: TransferRequest) {
        credential = Patch(request.credential.map { CredentialRecord(masking: $0) })
        clientCert = Patch(request.clientCertificate.map { ClientCertificateRecord($0) })
        if request.usesCookies || request.refusesCookies { cookies = .set(request.usesCookies) }
        if !request.cookies.isEmpty { cookieList = .set(request.cookies.map { CookieRecord(masking: $0) }) }
        proxy = Patch(request.proxy.map { ProxyRecord(masking: $0) })
    }

    /// The choices of a profile in the form in which they are shown.
    init(masking profile: Profile) {
        credential = Patch(profile.credential.map { CredentialRecord(masking: $0, showsPlaces: true) })
        clientCert = Patch(profile.clientCertificate.map { ClientCertificateRecord($0) })
        proxy = Patch(profile.proxy.map { ProxyRecord(masking: $0) })
    }
}

extension TaskFields {
    static let access: [ChoiceField<AccessChoices>] = [
        ChoiceField(
            "credential", \.credential, task: "Credential; sent only to its origins.",
            record: "Credential, if there is one; its values are ***.",
            profile:
                "Credential; sent only to its origins (default: base_url's). Shown as *** or as the secret's place.",
            change: .stopped("Credential; null is none; only while the task is not running.", isNullable: true)),
        ChoiceField(
            "client_cert", \.clientCert,
            task: "Client certificate for servers of the URL's origin that request one; operators only.",
            record: "The task's own client certificate.",
            profile: "Client certificate for servers of base_url's origin that request one.",
            change: .stopped(
                "Client certificate for servers of the URL's origin that request one; null is none; only while the task is not running.",
                isNullable: true), access: .operators),
        ChoiceField(
            "cookies", \.cookies,
            task:
                "True to send and keep the profile's cookies; default: the profile's. False also ignores cookies that "
                + "a response sets for the next hop.",
            record: "True if the profile's cookies are used; false if only its own are.", isNullable: true),
        ChoiceField(
            "cookie_list", \.cookieList,
            task:
                "Cookies of its own in place of a profile's, each sent to the servers to which it applies. Cookies that servers set apply to "
                + "the attempt only.",
            record: "Its own cookies; values are ***.",
            change: .stopped("Cookies of its own; null is none; only while the task is not running.", isNullable: true),
            limits: [.count(0...1000)]),
        ChoiceField(
            "proxy", \.proxy, task: "The proxy to go through.",
            record: "The proxy it goes through; secrets are ***.",
            profile: "The proxy to go through; secrets are shown as ***.",
            change: .stopped(
                "The proxy to go through; null is none; only while the task is not running.", isNullable: true),
            access: .noProfileSecrets,
            example: "http://proxy.example.org:3128"),
    ]
}
