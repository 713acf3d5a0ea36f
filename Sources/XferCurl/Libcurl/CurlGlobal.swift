import CCurl

/// libcurl's process-wide state, set up once and kept.
enum CurlGlobal {
    static func start() throws(EngineStartError) { try outcome.get() }

    private static let outcome: Result<Void, EngineStartError> = {
        let code = curl_global_init(Int(CURL_GLOBAL_ALL))
        guard code == CURLE_OK else {
            return .failure(.initialisationFailed(String(cString: curl_easy_strerror(code))))
        }
        let tls =
            curl_version_info(xfer_curl_version_now)?.pointee.ssl_version.map { String(cString: $0) } ?? "no TLS at all"
        return tls.hasPrefix("OpenSSL/") ? .success(()) : .failure(.notOpenSSL(found: tls))
    }()
}
