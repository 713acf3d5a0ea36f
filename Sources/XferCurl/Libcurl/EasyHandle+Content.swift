import CCurl
import CLinux
import XferCore
import XferModel

/// Sets the method and the content of a request. `curl_easy_reset` has reset the last request's options.
extension EasyHandle {
    func setMethod(_ method: HTTPMethod, _ content: RequestContent?) {
        switch content {
        case .single(let reader):
            let context = UnsafeMutableRawPointer(bitPattern: id)
            // Without the form's Content-Type that CURLOPT_POST would add.
            set(CURLOPT_UPLOAD, 1)
            xfer_easy_set_offset(easy, CURLOPT_INFILESIZE_LARGE, curl_off_t(clamping: reader.length))
            xfer_easy_set_data_function(easy, CURLOPT_READFUNCTION, curlContentCallback)
            set(CURLOPT_READDATA, pointer: context)
            xfer_easy_set_seek_function(easy, curlContentSeekCallback)
            set(CURLOPT_SEEKDATA, pointer: context)
        case .multipart(let form):
            set(CURLOPT_MIMEPOST, pointer: UnsafeMutableRawPointer(form.mime))
        case nil:
            // Also keeps libcurl from waiting for a body.
            if method == .head { return set(CURLOPT_NOBODY, 1) }
            if method == .get { return set(CURLOPT_HTTPGET, 1) }
        }
        set(CURLOPT_CUSTOMREQUEST, method.rawValue)
    }

    /// True if a form is bound to the handle.
    var carriesForm: Bool { content?.isMultipart ?? false }

    /// Resets every option of a request that the next one must not have, above all the secret ones. Like
    /// `curl_easy_reset`, but it keeps the form.
    func resetOptions() {
        for option in [
            CURLOPT_PIPEWAIT, CURLOPT_FORBID_REUSE, CURLOPT_FRESH_CONNECT, CURLOPT_NETRC,
            CURLOPT_UNRESTRICTED_AUTH, CURLOPT_HTTPPROXYTUNNEL, CURLOPT_IPRESOLVE,
        ] { set(option, 0) }
        for option in [
            CURLOPT_USERPWD, CURLOPT_XOAUTH2_BEARER, CURLOPT_AWS_SIGV4, CURLOPT_PROXY, CURLOPT_PROXYUSERPWD,
            CURLOPT_NOPROXY, CURLOPT_PROXYHEADER, CURLOPT_COOKIE, CURLOPT_ACCEPT_ENCODING,
            CURLOPT_REFERER, CURLOPT_USERAGENT, CURLOPT_RANGE, CURLOPT_RESOLVE, CURLOPT_CONNECT_TO, CURLOPT_SOCKOPTDATA,
            CURLOPT_OPENSOCKETDATA, CURLOPT_INTERFACE, CURLOPT_UNIX_SOCKET_PATH,
        ] { set(option, pointer: nil) }
        set(CURLOPT_HTTPAUTH, Int(xfer_auth_basic))
        set(CURLOPT_PROXYAUTH, Int(xfer_auth_basic))
        xfer_easy_set_sockopt_function(easy, nil)
        xfer_easy_set_pointer(easy, CURLOPT_OPENSOCKETFUNCTION, nil)
    }

    /// The number of bytes of content the system has taken in the present request.
    var contentSent: Int64 { offset(CURLINFO_SIZE_UPLOAD_T) ?? 0 }

    /// Length of the content as libcurl announced it; nil before that.
    var contentLength: Int64? { offset(CURLINFO_CONTENT_LENGTH_UPLOAD_T).flatMap { $0 >= 0 ? $0 : nil } }

    /// The number of bytes of requests that were sent, without content; more than one request only if libcurl repeats
    /// it.
    var requestSize: Int {
        var size = 0
        xfer_easy_get_long(easy, CURLINFO_REQUEST_SIZE, &size)
        return size
    }

    /// Bytes the peer has acknowledged on the request's connection, and how many milliseconds ago it last acknowledged
    /// any.
    var acknowledgement: (bytes: UInt64, age: UInt32)? {
        guard let socket else { return nil }
        var bytes: UInt64 = 0
        var age: UInt32 = 0
        return xfer_tcp_acknowledged(socket, &bytes, &age) == 0 ? (bytes, age) : nil
    }

    /// The losses of the request's connection, as far as the kernel reports them.
    var losses: ConnectionLosses? {
        guard let socket else { return nil }
        var segments: UInt32 = 0
        var outOfOrder: UInt32 = 0
        guard xfer_tcp_losses(socket, &segments, &outOfOrder) == 0 else { return nil }
        return ConnectionLosses(segments: segments, outOfOrder: outOfOrder)
    }

    private func offset(_ info: CURLINFO) -> Int64? {
        var value: curl_off_t = 0
        return xfer_easy_get_offset(easy, info, &value) == CURLE_OK ? Int64(clamping: value) : nil
    }
}
