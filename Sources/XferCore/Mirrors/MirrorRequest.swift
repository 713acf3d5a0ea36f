public import XferModel

/// Makes the request for one of a task's other sources.
public enum MirrorRequest {
    /// The request for `mirror`, without anything that is bound to the origin of the task's own URL.
    ///
    /// Secret header fields and `Host` stay behind as they do at a redirect (`HopHeaders`). So do secrets of rules that
    /// are for every host, or that began with TLS where the mirror has none (`HeaderRules`). Credentials and
    /// certificates are not part of it: the caller resolves them and binds them to the task's own URL.
    public static func request(_ request: TransferRequest, for mirror: HTTPURL) -> TransferRequest {
        guard mirror != request.url else { return request }
        var asked = request
        asked.url = mirror
        guard mirror.origin != request.url.origin else { return asked }
        asked.headers.removeAll { isBound($0.name) }
        let losesTLS = request.url.scheme == .https && mirror.scheme == .http
        for index in asked.headerRules.indices where asked.headerRules[index].hosts.isEmpty || losesTLS {
            asked.headerRules[index].set.removeAll { Redaction.isSecretHeader($0.name) }
        }
        // The task's own certificate is for servers of its URL's origin.
        asked.clientCertificate = nil
        return asked
    }

    private static func isBound(_ name: String) -> Bool {
        Redaction.isSecretHeader(name) || name.lowercased() == "host"
    }
}
