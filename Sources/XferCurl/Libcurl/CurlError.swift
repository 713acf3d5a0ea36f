import CCurl
import Glibc
import XferModel

/// Converts libcurl's codes (libcurl-errors(3)) into transfer errors.
enum CurlError {
    /// The error for libcurl's result code.
    ///
    /// - Parameters:
    ///   - detail: libcurl's error buffer; for certificates it contains OpenSSL's reason.
    ///   - osError: `CURLINFO_OS_ERRNO`, which distinguishes an unreachable network from a refused connection.
    static func transferError(_ code: CURLcode, detail: String, osError: Int, _ url: HTTPURL) -> TransferError {
        let (reason, isRetriable) = framingFault(code, detail) ?? classify(code, osError: osError)
        return TransferError(
            reason, "\(url.hostKey): \(text(code, detail))", isRetriable: isRetriable,
            curlCode: Int32(bitPattern: code.rawValue), host: url.hostKey)
    }

    /// libcurl's description of the failure.
    static func text(_ code: CURLcode, _ detail: String) -> String {
        detail.isEmpty ? String(cString: curl_easy_strerror(code)) : detail
    }

    /// Recognises framing errors that libcurl detects before `HeadParser` sees the head; only the text identifies them.
    private static func framingFault(_ code: CURLcode, _ detail: String) -> (FailureReason, Bool?)? {
        switch code {
        case CURLE_WEIRD_SERVER_REPLY where detail.hasPrefix("Invalid Content-Length"): (.invalidFraming, nil)
        // Bytes were lost, or the server's program broke off: the next answer may be valid.
        case CURLE_RECV_ERROR where detail.hasSuffix("in chunked-encoding"): (.invalidFraming, true)
        // A line behind the last chunk that is no field.
        case CURLE_BAD_FUNCTION_ARGUMENT where detail.hasSuffix("chunked-encoded stream"): (.invalidFraming, true)
        default: nil
        }
    }

    /// Errors that libcurl reports as its own while it reads a head; nil for every other code.
    static func headFault(_ code: CURLcode, _ url: HTTPURL) -> TransferError? {
        let (reason, problem): (FailureReason, String)
        switch code {
        // Longer than its buffer for a line (CURL_MAX_HTTP_HEADER).
        case CURLE_OUT_OF_MEMORY: (reason, problem) = (.protocolError, "a line of more than 100 KiB in its head")
        // It looks for the field that the first line continues.
        case CURLE_BAD_FUNCTION_ARGUMENT:
            (reason, problem) = (.invalidFraming, "white space in front of its first header field")
        default: return nil
        }
        return TransferError(
            reason, "\(url.hostKey) sent \(problem)", curlCode: Int32(bitPattern: code.rawValue), host: url.hostKey)
    }

    /// The reason, and whether to retry where that differs from the reason's own rule.
    private static func classify(_ code: CURLcode, osError: Int) -> (FailureReason, Bool?) {
        switch code {
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY:
            (.dnsFailure, nil)
        case CURLE_COULDNT_CONNECT:
            (isUnreachable(osError) ? .networkUnreachable : .connectFailed, nil)
        case CURLE_SSL_CONNECT_ERROR, CURLE_PROXY, CURLE_INTERFACE_FAILED, CURLE_NO_CONNECTION_AVAILABLE:
            (.connectFailed, nil)
        case CURLE_OPERATION_TIMEDOUT:
            // The only timeout libcurl is given is the one for connecting.
            (.connectTimeout, nil)
        case CURLE_PEER_FAILED_VERIFICATION, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ISSUER_ERROR, CURLE_SSL_CRL_BADFILE,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER, CURLE_SSL_CLIENTCERT:
            (.trustRejected, nil)
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH:
            // Of libcurl's own pinning, which is not used: `HandshakeHook` judges servers.
            (.pinMismatch, nil)
        case CURLE_PARTIAL_FILE:
            (.shortBody, nil)
        case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_AGAIN, CURLE_SSL_SHUTDOWN_FAILED,
            CURLE_HTTP2_STREAM, CURLE_HTTP3, CURLE_QUIC_CONNECT_ERROR:
            (.connectionLost, nil)
        case CURLE_WEIRD_SERVER_REPLY, CURLE_HTTP2, CURLE_UNSUPPORTED_PROTOCOL,
            CURLE_HTTP_RETURNED_ERROR, CURLE_RANGE_ERROR, CURLE_CHUNK_FAILED:
            (.protocolError, nil)
        case CURLE_BAD_CONTENT_ENCODING:
            (.protocolError, false)
        case CURLE_LOGIN_DENIED, CURLE_AUTH_ERROR:
            (.authFailed, nil)
        case CURLE_TOO_MANY_REDIRECTS:
            (.tooManyRedirects, nil)
        case CURLE_FILESIZE_EXCEEDED:
            (.lengthMismatch, nil)
        case CURLE_SEND_FAIL_REWIND:
            (.bodyNotRewindable, nil)
        case CURLE_WRITE_ERROR:
            (.diskError, nil)
        case CURLE_OUT_OF_MEMORY:
            (.internalError, true)
        default:
            (.internalError, nil)
        }
    }

    private static func isUnreachable(_ osError: Int) -> Bool {
        [ENETUNREACH, EHOSTUNREACH, ENETDOWN].contains(Int32(truncatingIfNeeded: osError))
    }
}
