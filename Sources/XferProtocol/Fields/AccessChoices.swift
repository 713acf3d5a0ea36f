public import XferModel

/// Who the service claims to be towards servers, and by which way it reaches them, as a client chooses it for a task or
/// a profile. Where it is shown, secrets are `***`.
public struct AccessChoices: Hashable, Sendable {
    public var credential = Patch<CredentialRecord>.unchanged
    public var clientCert = Patch<ClientCertificateRecord>.unchanged
    /// Whether the profile's cookies are used; a profile has `CookieKeeping` in its place.
    public var cookies = Patch<Bool>.unchanged
    public var proxy = Patch<ProxyRecord>.unchanged

    public init() {}

    /// What is shown of a request.
    init(masking request: TransferRequest) {
        credential = Patch(request.credential.map { CredentialRecord(masking: $0) })
        clientCert = Patch(request.clientCertificate.map { ClientCertificateRecord($0) })
        if request.usesCookies { cookies = .set(true) }
        proxy = Patch(request.proxy.map { ProxyRecord(masking: $0) })
    }

    /// What is shown of a profile.
    init(masking profile: Profile) {
        credential = Patch(profile.credential.map { CredentialRecord(masking: $0) })
        clientCert = Patch(profile.clientCertificate.map { ClientCertificateRecord($0) })
        proxy = Patch(profile.proxy.map { ProxyRecord(masking: $0) })
    }
}
