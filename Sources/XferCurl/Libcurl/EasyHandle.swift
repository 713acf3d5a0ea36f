import CCurl
import CLinux
import Glibc
import XferCore
import XferModel

/// A libcurl easy handle: one request at a time, reused for the next one. It never changes its session, because its TLS
/// session cache would carry one session's trust into another. The exception is the handle a form is bound to: it lives
/// as long as its attempt, and its cache is never used (`setCommonOptions`).
///
/// Confined to the loop's thread.
final class EasyHandle {
    /// The id by which callbacks and messages find the handle.
    let id: UInt
    let easy: UnsafeMutableRawPointer
    /// The hop that receives the callbacks; nil while the handle is idle.
    weak var hop: Hop?
    /// The socket of the request that libcurl last wanted to be watched (`CURLINFO_ACTIVESOCKET` is only valid
    /// afterwards). With HTTP/2 other requests use it, too.
    var socket: Int32?

    private let errorBuffer: UnsafeMutablePointer<CChar>
    private var headers: HeaderList?
    private var resolve: LineList?
    private var connectTo: LineList?
    private(set) var content: RequestContent?

    /// Creates a handle. Returns nil if there is no memory.
    init?(id: UInt) {
        guard let easy = curl_easy_init() else { return nil }
        self.id = id
        self.easy = easy
        errorBuffer = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorBuffer.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit {
        curl_easy_cleanup(easy)
        errorBuffer.deallocate()
    }

    /// Parameters of one request besides the common options.
    struct Request {
        var url: HTTPURL
        var method: HTTPMethod
        var content: RequestContent?
        var headers: HeaderList
        var spec: SessionSpec
        var httpVersion: HTTPVersion
        /// Seconds; 0 is unlimited.
        var connectTimeout: Double
        /// 0 is unlimited.
        var maxReceiveRate: Int64
        /// The highest number of bytes that are read at once; see `bufferSize`.
        var readSize: Int
        /// True if the request needs a new connection; see `Hop.isStale`.
        var needsNewConnection: Bool
        var authentication = HopAuthentication.none
        /// The `Cookie` field's value.
        var cookies: String?

        var isHTTP1: Bool { httpVersion == .http1 || maxReceiveRate > 0 || withholdsContent }

        /// True if libcurl first sends the request without its content, because the login follows a challenge.
        ///
        /// libcurl (7.88) notes that at the connection, and omits the content of the next request there, whichever task
        /// it is of, if that has no login. So no other request may use the connection, at the same time or later.
        var withholdsContent: Bool {
            guard content != nil else { return false }
            if case .digest = authentication { return true }
            return spec.key.proxyLogin.map { $0.scheme != .basic } ?? false
        }

        /// The size of libcurl's buffer in bytes. Over plain http a call reads as much as is available; a TLS record
        /// has 16 KiB at most, so a larger buffer has no benefit. Under a limit the buffer is small.
        var bufferSize: Int {
            if maxReceiveRate > 0 { return 16 << 10 }
            return url.scheme == .http && !spec.key.hasSecureProxy ? readSize : min(readSize, 64 << 10)
        }
    }

    func prepare(_ request: Request) {
        if carriesForm { resetOptions() } else { curl_easy_reset(easy) }
        errorBuffer[0] = 0
        headers = request.headers
        content = request.content
        setCommonOptions()
        setTrust()
        setCallbacks()
        set(CURLOPT_URL, url(of: request))
        setMethod(request.method, request.content)
        if request.needsNewConnection { set(CURLOPT_FRESH_CONNECT, 1) }
        if request.withholdsContent { set(CURLOPT_FORBID_REUSE, 1) }
        set(CURLOPT_HTTPHEADER, pointer: request.headers.first)
        if let agent = request.headers.unsignedUserAgent { set(CURLOPT_USERAGENT, agent) }
        set(CURLOPT_HTTP_VERSION, Self.version(request))
        setRoute(request.spec)
        setConnections(request.spec.key.connections)
        setAuthentication(request.authentication)
        if let cookies = request.cookies { set(CURLOPT_COOKIE, cookies) }
        if request.url.scheme == .https, !request.isHTTP1 {
            // A request rather waits for an HTTP/2 connection that is being made than makes another one. Over http,
            // where no ALPN shows that there is none to share, it would wait for the first response's end.
            set(CURLOPT_PIPEWAIT, 1)
        }
        // 0 would mean libcurl's default of 300 s.
        let connectTimeout = request.connectTimeout > 0 ? request.connectTimeout : 86_400
        set(CURLOPT_CONNECTTIMEOUT_MS, Int(saturating: max(1, min(connectTimeout, 86_400) * 1000)))
        set(CURLOPT_BUFFERSIZE, request.bufferSize)
        if request.maxReceiveRate > 0 || request.spec.key.hasSecureProxy {
            xfer_easy_set_sockopt_function(easy, curlSocketOptionCallback)
            set(CURLOPT_SOCKOPTDATA, pointer: UnsafeMutableRawPointer(bitPattern: id))
        }
    }

    /// Keeps resolved names. Otherwise libcurl checks the age of each name that it has resolved when the request ends.
    func keepResolvedNames() { set(CURLOPT_DNS_CACHE_TIMEOUT, -1) }

    /// Sets the lists that replace the resolver's and the URL's addresses.
    func setConnectionLists(resolve rules: [ResolveRule], connectTo targets: [ConnectToRule]) {
        let (names, hosts) = (LineList(rules.map(\.description)), LineList(targets.map(\.description)))
        set(CURLOPT_RESOLVE, pointer: names.first)
        set(CURLOPT_CONNECT_TO, pointer: hosts.first)
        (resolve, connectTo) = (names.first == nil ? nil : names, hosts.first == nil ? nil : hosts)
    }

    /// Detaches the hop and the socket, so that callbacks have no effect.
    func rest() {
        hop = nil
        socket = nil
    }

    /// Frees the resources of the last request, too.
    func finish() {
        rest()
        set(CURLOPT_HTTPHEADER, pointer: nil)
        headers = nil
        if resolve != nil || connectTo != nil { setConnectionLists(resolve: [], connectTo: []) }
        // Unbinds the form, whether or not the next hop sends it, too.
        if content?.isMultipart == true { set(CURLOPT_MIMEPOST, pointer: nil) }
        content = nil
        for option in [CURLOPT_USERNAME, CURLOPT_PASSWORD, CURLOPT_COOKIE] { set(option, pointer: nil) }
    }

    private func setCommonOptions() {
        set(CURLOPT_PRIVATE, pointer: UnsafeMutableRawPointer(bitPattern: id))
        set(CURLOPT_ERRORBUFFER, pointer: errorBuffer)
        set(CURLOPT_PROTOCOLS_STR, "http,https")
        set(CURLOPT_FOLLOWLOCATION, 0)
        set(CURLOPT_NOSIGNAL, 1)
        // Removing a handle whose name is being resolved must not wait for the resolver.
        set(CURLOPT_QUICK_EXIT, 1)
        // Survives curl_easy_reset, and would let a connection skip the certificate check.
        set(CURLOPT_SSL_SESSIONID_CACHE, 0)
        // The reader of a body undoes its coding, within bounds and off the loop: libcurl would write out all that one
        // read decodes to, and does not detect a stream that ends early. (Off, it leaves transfer codings alone, too.)
        set(CURLOPT_HTTP_CONTENT_DECODING, 0)
        set(CURLOPT_HTTP09_ALLOWED, 0)
        // `CurlURL` has read the URL: dot segments that it still has are intended (`path_as_is`).
        set(CURLOPT_PATH_AS_IS, 1)
        set(CURLOPT_NETRC, 0)
        set(CURLOPT_TCP_KEEPALIVE, 1)
        set(CURLOPT_EXPECT_100_TIMEOUT_MS, Int(clamping: ContinueMemory.patience.components.seconds * 1000))
        // A proxy's answer to CONNECT is not the response to the request.
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
    }

    /// Replaces libcurl's certificate check by this service's; libcurl still has to require a check, and to fail with
    /// ours.
    private func setTrust() {
        for (peer, host) in [
            (CURLOPT_SSL_VERIFYPEER, CURLOPT_SSL_VERIFYHOST),
            (CURLOPT_PROXY_SSL_VERIFYPEER, CURLOPT_PROXY_SSL_VERIFYHOST),
        ] {
            // With 0 libcurl would ignore the callback's verdict.
            set(peer, 1)
            // With 2 libcurl would check the name even where a policy does not.
            set(host, 0)
        }
        // libcurl would read the default bundle for every session, though it is not used.
        for option in [CURLOPT_CAINFO, CURLOPT_CAPATH, CURLOPT_PROXY_CAINFO, CURLOPT_PROXY_CAPATH] {
            set(option, pointer: nil)
        }
        xfer_easy_set_ssl_ctx_function(easy, curlTLSContextCallback)
        set(CURLOPT_SSL_CTX_DATA, pointer: UnsafeMutableRawPointer(bitPattern: id))
    }

    private func setCallbacks() {
        let context = UnsafeMutableRawPointer(bitPattern: id)
        xfer_easy_set_data_function(easy, CURLOPT_WRITEFUNCTION, curlBodyCallback)
        set(CURLOPT_WRITEDATA, pointer: context)
        xfer_easy_set_data_function(easy, CURLOPT_HEADERFUNCTION, curlHeaderCallback)
        set(CURLOPT_HEADERDATA, pointer: context)
        xfer_easy_set_prereq_function(easy, curlConnectedCallback)
        set(CURLOPT_PREREQDATA, pointer: context)
    }

    private static func version(_ request: Request) -> Int {
        Int(clamping: request.isHTTP1 ? CURL_HTTP_VERSION_1_1 : CURL_HTTP_VERSION_2TLS)
    }

    // MARK: While the request runs

    /// Pauses or resumes each direction. When receiving is resumed, libcurl delivers its buffered bytes at once; if
    /// that is refused, the code is returned.
    func setPaused(receiving: Bool, sending: Bool) -> CURLcode {
        let code = curl_easy_pause(
            easy, (receiving ? CURLPAUSE_RECV : 0) | (sending ? CURLPAUSE_SEND : 0))
        // Before its connection, and after its end, a request has nothing to pause.
        return code == CURLE_BAD_FUNCTION_ARGUMENT ? CURLE_OK : code
    }

    /// True if unread bytes wait in the socket. Only meaningful over http/1.1.
    var hasUnreadBytes: Bool {
        guard let socket else { return false }
        var byte: UInt8 = 0
        return recv(socket, &byte, 1, Int32(MSG_PEEK | MSG_DONTWAIT)) > 0
    }

    /// Limits the kernel's receive window for a limit on a running transfer, or removes that bound (0). The connection
    /// is not reused.
    func clampWindow(rate: Int64) {
        guard let socket else { return }
        ReceiveWindow.clamp(socket, rate: rate)
        set(CURLOPT_FORBID_REUSE, 1)
    }

    /// The origin that libcurl itself connects to; nil when it cannot be read.
    var effectiveOrigin: Origin? {
        var text: UnsafeMutableRawPointer?
        guard xfer_easy_get_pointer(easy, CURLINFO_EFFECTIVE_URL, &text) == CURLE_OK, let text else { return nil }
        do throws(URLSyntaxError) {
            return try CurlURL.parse(String(cString: text.assumingMemoryBound(to: CChar.self))).url.origin
        } catch {
            return nil
        }
    }

    /// True if this request made its connection instead of reusing one.
    var hasNewConnection: Bool {
        var count = 0
        return xfer_easy_get_long(easy, CURLINFO_NUM_CONNECTS, &count) != CURLE_OK || count > 0
    }

    /// The connection's `SSL`, while the request runs over one.
    var tls: UnsafeMutableRawPointer? {
        var found: UnsafeMutableRawPointer?
        guard xfer_easy_get_pointer(easy, CURLINFO_TLS_SSL_PTR, &found) == CURLE_OK, let found else { return nil }
        return found.assumingMemoryBound(to: curl_tlssessioninfo.self).pointee.internals
    }

    var errorText: String { String(cString: errorBuffer) }

    var osError: Int {
        var value = 0
        xfer_easy_get_long(easy, CURLINFO_OS_ERRNO, &value)
        return value
    }

    // MARK: Options

    // libcurl only refuses unknown options, which tests would detect, or lacks memory.
    func set(_ option: CURLoption, _ value: Int) { xfer_easy_set_long(easy, option, value) }
    func set(_ option: CURLoption, _ value: String) { xfer_easy_set_string(easy, option, value) }
    func set(_ option: CURLoption, pointer: UnsafeMutableRawPointer?) {
        xfer_easy_set_pointer(easy, option, pointer)
    }
}

/// The TCP window of limited transfers, so that the server cannot send a minute ahead of what is read.
enum ReceiveWindow {
    /// Limits the socket's receive window to about a second's worth of bytes, 4 KiB … 4 MiB; without a limit it is the
    /// kernel's maximum. `TCP_WINDOW_CLAMP` (tcp(7)), not `SO_RCVBUF`, because it can be raised again.
    static func clamp(_ socket: Int32, rate: Int64) {
        _ = xfer_clamp_tcp_window(socket, rate > 0 ? Int32(clamping: min(max(rate, 4 << 10), 4 << 20)) : 1 << 30)
    }
}
