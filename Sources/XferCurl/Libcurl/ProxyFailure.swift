import CCurl
import XferModel

/// Converts a proxy's refusal, which libcurl reports as a broken connection.
extension Hop {
    /// Nil when the request did not fail at the proxy. Call it before the handle is reset.
    func proxyFailure(_ code: CURLcode) -> TransferError? {
        guard code != CURLE_OK, let (session, handle) = connection, let proxy = session.key.spec.key.proxy else {
            return nil
        }
        let curlCode = Int32(bitPattern: code.rawValue)
        if code == CURLE_PROXY, handle.refusesProxyLogin {
            return TransferError(
                .authFailed, "the proxy \(proxy) wants other credentials", curlCode: curlCode, host: url.hostKey)
        }
        switch handle.proxyStatus {
        // Some proxies answer 401 to wrong credentials.
        case let status where status == 407 || status == 401:
            return TransferError(
                .authFailed, "the proxy \(proxy) answered \(status): it wants other credentials", httpStatus: status,
                curlCode: curlCode, host: url.hostKey)
        case let status where status >= 300:
            // 4xx: the proxy refuses; 5xx: it failed.
            let isRetriable = status >= 500 || status == 408 || status == 429
            return TransferError(
                .connectFailed, "the proxy \(proxy) answered \(status) to the wish to connect to \(url.hostKey)",
                isRetriable: isRetriable, httpStatus: status, curlCode: curlCode, host: url.hostKey)
        default:
            return nil
        }
    }
}

extension EasyHandle {
    /// The status of the proxy's answer to CONNECT, 0 when there was none.
    fileprivate var proxyStatus: Int {
        var status = 0
        xfer_easy_get_long(easy, CURLINFO_HTTP_CONNECTCODE, &status)
        return status
    }

    /// Whether a SOCKS proxy refused user name and password, or requires them.
    fileprivate var refusesProxyLogin: Bool {
        var problem = 0
        xfer_easy_get_long(easy, CURLINFO_PROXY_ERROR, &problem)
        return [CURLPX_USER_REJECTED, CURLPX_NO_AUTH].contains { Int($0.rawValue) == problem }
    }
}
