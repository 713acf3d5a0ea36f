import CCurl
import CLinux
import Glibc
import XferModel

// libcurl's entry points. File-scope and nonisolated: a closure would inherit its context's isolation and trap. They
// run on the loop's thread, inside a libcurl call the engine made there. The context is an id, not an object: a removed
// object is simply not found.

/// CURLOPT_WRITEFUNCTION: receives part of a body.
func curlBodyCallback(
    _ data: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    let bytes = UnsafeRawBufferPointer(start: data, count: size * count)
    guard let hop = hop(context) else { return bytes.isEmpty ? 1 : 0 }
    return hop.onBody(bytes)
}

/// CURLOPT_HEADERFUNCTION: receives one line of a head or trailer.
func curlHeaderCallback(
    _ data: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    let bytes = UnsafeRawBufferPointer(start: data, count: size * count)
    guard let hop = hop(context) else { return 0 }
    return hop.onHeaderLine(bytes) ? bytes.count : 0
}

/// The callback for CURLOPT_PREREQFUNCTION: the connection exists, and the request is sent next.
func curlConnectedCallback(
    _ context: UnsafeMutableRawPointer?, _ remote: UnsafeMutablePointer<CChar>?, _ local: UnsafeMutablePointer<CChar>?,
    _ remotePort: Int32, _ localPort: Int32
) -> Int32 {
    guard let hop = hop(context) else { return CURL_PREREQFUNC_ABORT }
    let route = SocketRoute(local: local, localPort: localPort, remote: remote, remotePort: remotePort)
    return hop.onConnected(route) ? CURL_PREREQFUNC_OK : CURL_PREREQFUNC_ABORT
}

/// CURLOPT_SSL_CTX_FUNCTION: prepares a TLS handshake. Any result other than CURLE_OK ends the request with that error.
func curlTLSContextCallback(
    _ easy: UnsafeMutableRawPointer?, _ tls: UnsafeMutableRawPointer?, _ context: UnsafeMutableRawPointer?
) -> CURLcode {
    guard let hop = hop(context), let tls, hop.onTLSContext(tls) else {
        return CURLE_ABORTED_BY_CALLBACK
    }
    return CURLE_OK
}

/// CURLOPT_SOCKOPTFUNCTION, set for limited transfers and `https` proxies only: prepares a new socket that is not yet
/// connected.
func curlSocketOptionCallback(
    _ context: UnsafeMutableRawPointer?, _ socket: curl_socket_t, _ purpose: curlsocktype
) -> Int32 {
    if let hop = hop(context) {
        hop.onSocket()
        let rate = hop.run.receiveRate
        if rate > 0 { ReceiveWindow.clamp(socket, rate: rate) }
    }
    return Int32(CURL_SOCKOPT_OK)
}

/// CURLOPT_OPENSOCKETFUNCTION: creates the socket, unless no connection may be made to the address, or another one is
/// preferred.
func curlOpenSocketCallback(
    _ context: UnsafeMutableRawPointer?, _ purpose: curlsocktype, _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let hop = hop(context), let address, hop.mayConnect(to: address) else {
        return CURL_SOCKET_BAD
    }
    let kind = address.pointee
    return socket(kind.family, kind.socktype | Int32(SOCK_CLOEXEC.rawValue), kind.protocol)
}

/// The callback for CURLMOPT_SOCKETFUNCTION: the events to wait for on a socket.
func curlSocketCallback(
    _ easy: UnsafeMutableRawPointer?, _ socket: curl_socket_t, _ what: Int32, _ context: UnsafeMutableRawPointer?,
    _ socketContext: UnsafeMutableRawPointer?
) -> Int32 {
    session(context)?.onWatch(socket: socket, what: what, for: EngineCore.current?.handle(of: easy))
    return 0
}

/// CURLMOPT_TIMERFUNCTION: sets the time at which libcurl wants to be called next; −1 is never.
func curlTimerCallback(
    _ multi: UnsafeMutableRawPointer?, _ milliseconds: Int, _ context: UnsafeMutableRawPointer?
) -> Int32 {
    session(context)?.onTimer(milliseconds: milliseconds)
    return 0
}

func hop(_ context: UnsafeMutableRawPointer?) -> Hop? {
    EngineCore.current?.handle(UInt(bitPattern: context))?.hop
}

private func session(_ context: UnsafeMutableRawPointer?) -> TransferSession? {
    EngineCore.current?.session(UInt32(truncatingIfNeeded: UInt(bitPattern: context)))
}

/// CURLOPT_READFUNCTION: provides the next bytes of the content.
func curlContentCallback(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let hop = hop(context), case .single(let reader) = hop.content else {
        return Int(CURL_READFUNC_ABORT)
    }
    return hop.onContentWanted(from: reader, UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
}

/// CURLOPT_SEEKFUNCTION: changes the position in the content, so that libcurl can send it again.
func curlContentSeekCallback(_ context: UnsafeMutableRawPointer?, _ offset: curl_off_t, _ origin: Int32) -> Int32 {
    guard let hop = hop(context), case .single(let reader) = hop.content else {
        return CURL_SEEKFUNC_FAIL
    }
    return seek(reader, offset, origin)
}

/// curl_mime_data_cb(3): provides the next bytes of a part. The context is the part's reader, which the form keeps
/// alive.
func curlPartCallback(
    _ buffer: UnsafeMutablePointer<CChar>?, _ size: Int, _ count: Int, _ context: UnsafeMutableRawPointer?
) -> Int {
    guard let context else { return Int(CURL_READFUNC_ABORT) }
    let reader = Unmanaged<ContentReader>.fromOpaque(context).takeUnretainedValue()
    guard let hop = reader.hop else { return Int(CURL_READFUNC_ABORT) }
    return hop.onContentWanted(from: reader, UnsafeMutableRawBufferPointer(start: buffer, count: size * count))
}

/// curl_mime_data_cb(3): changes the position in a part, so that libcurl can send it again.
func curlPartSeekCallback(_ context: UnsafeMutableRawPointer?, _ offset: curl_off_t, _ origin: Int32) -> Int32 {
    guard let context else { return CURL_SEEKFUNC_FAIL }
    return seek(Unmanaged<ContentReader>.fromOpaque(context).takeUnretainedValue(), offset, origin)
}

private func seek(_ reader: ContentReader, _ offset: curl_off_t, _ origin: Int32) -> Int32 {
    origin == SEEK_SET && reader.seek(to: Int64(clamping: offset)) ? CURL_SEEKFUNC_OK : CURL_SEEKFUNC_FAIL
}
