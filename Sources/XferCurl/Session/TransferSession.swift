import CCurl
import CLinux
import XferModel

/// One libcurl multi handle: one pool of connections, all judged by the same trust settings.
///
/// Confined to the loop's thread. Its multi handle is changed from the loop's turn, never from one of its callbacks.
final class TransferSession {
    /// The key of a connection pool.
    struct PoolKey: Hashable {
        var spec: SessionSpec
        /// True for limited transfers, which have connections of their own: HTTP/1.1, with a small window.
        var isLimited: Bool
        /// The generation of the trust anchors that judge the connections; 0 without TLS.
        var anchorGeneration: UInt64 = 0
    }

    let id: UInt32
    let key: PoolKey
    /// True if it gets no new requests; it is closed when the last one ends.
    private(set) var isRetired = false

    private unowned let core: EngineCore
    private let multi: UnsafeMutableRawPointer
    private var idleHandles: [EasyHandle] = []
    private var activeCount = 0
    /// Descriptors that libcurl had watched; some may be closed since.
    private var sockets: Set<Int32> = []
    /// The sockets by their local port, which connections to different servers may share.
    private var found: [Int32: [Int32]] = [:]
    /// The start of the last request that makes libcurl discard old results of name resolution at its end.
    private var forgettingAt: MonotonicInstant?

    /// The highest number of easy handles kept for the next request; and the highest number of connections that are
    /// kept for as long as the server allows.
    private static let maxIdle = 32
    /// The time without requests after which the kept connections are closed. libcurl checks idle connections only
    /// during requests, so connections that servers have closed would stay.
    private static let idleTime = Duration.seconds(60)
    /// The interval at which a request lets libcurl discard old names, so that not every request does.
    private static let forgettingTime = Duration.seconds(1)

    /// Creates a session. Returns nil if there is no memory.
    init?(id: UInt32, key: PoolKey, keptConnections: Int, core: EngineCore) {
        guard let multi = curl_multi_init() else { return nil }
        self.id = id
        self.key = key
        self.core = core
        self.multi = multi
        let context = UnsafeMutableRawPointer(bitPattern: UInt(clamping: id))
        xfer_multi_set_socket_function(multi, curlSocketCallback)
        xfer_multi_set_pointer(multi, CURLMOPT_SOCKETDATA, context)
        xfer_multi_set_timer_function(multi, curlTimerCallback)
        xfer_multi_set_pointer(multi, CURLMOPT_TIMERDATA, context)
        xfer_multi_set_long(multi, CURLMOPT_MAXCONNECTS, max(keptConnections, Self.maxIdle))
        xfer_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
    }

    // MARK: Requests

    /// Sends the hop's request; nil when libcurl has no memory.
    func begin(_ request: EasyHandle.Request, for hop: Hop) -> EasyHandle? {
        guard let handle = handle(for: request.content) else { return nil }
        handle.prepare(request)
        if !forgetsNames() { handle.keepResolvedNames() }
        handle.hop = hop
        guard curl_multi_add_handle(multi, handle.easy) == CURLM_OK else {
            core.forgetHandle(handle)
            return nil
        }
        if activeCount == 0 { core.loop.deadlines.remove(.idleSession(id)) }
        activeCount += 1
        return handle
    }

    /// Returns true if libcurl discards old names at the end of the request that begins now. Then it checks each name.
    private func forgetsNames() -> Bool {
        if sockets.count > Self.maxIdle, let last = forgettingAt,
            last.duration(to: core.now) < Self.forgettingTime
        {
            return false
        }
        forgettingAt = core.now
        return true
    }

    /// Returns the handle for a request with this content. A form has a handle of its own.
    private func handle(for content: RequestContent?) -> EasyHandle? {
        guard case .multipart(let form) = content else { return idleHandles.popLast() ?? core.makeHandle() }
        if form.carrier == nil { form.carrier = core.makeHandle() }
        return form.carrier
    }

    /// Returns a handle to the session, finished or not. No callback for its request follows.
    func end(_ handle: EasyHandle) {
        curl_multi_remove_handle(multi, handle.easy)
        activeCount -= 1
        if handle.carriesForm {
            handle.rest()
            return closeIfDone()
        }
        handle.finish()
        if idleHandles.count < Self.maxIdle, !isRetired {
            idleHandles.append(handle)
        } else {
            core.forgetHandle(handle)
        }
        closeIfDone()
    }

    /// True if it serves no request.
    var isIdle: Bool { activeCount == 0 }

    func retire() {
        isRetired = true
        closeIfDone()
    }

    private func closeIfDone() {
        guard activeCount == 0 else { return }
        guard isRetired else {
            guard sockets.count > Self.maxIdle else { return }
            return core.loop.deadlines.set(.idleSession(id), to: core.now.advanced(by: Self.idleTime))
        }
        for handle in idleHandles { core.forgetHandle(handle) }
        idleHandles = []
        // Closes the connections, which calls back again.
        curl_multi_cleanup(multi)
        core.forgetSession(self)
    }

    // MARK: From the loop

    func onReady(socket: Int32, mask: UInt32) {
        var flags: Int32 = 0
        if mask & xfer_epoll_in != 0 { flags |= CURL_CSELECT_IN }
        if mask & xfer_epoll_out != 0 { flags |= CURL_CSELECT_OUT }
        if mask & xfer_epoll_error != 0 { flags |= CURL_CSELECT_ERR }
        act(socket, flags)
    }

    func onDeadline() { act(CURL_SOCKET_TIMEOUT, 0) }

    private func act(_ socket: Int32, _ flags: Int32) {
        var running: Int32 = 0
        curl_multi_socket_action(multi, socket, flags, &running)
        deliverResults()
    }

    private func deliverResults() {
        var left: Int32 = 0
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE else { continue }
            let code = xfer_message_result(message)
            // The end of the request may retire and close this session: then there are no messages left.
            core.handle(of: message.pointee.easy_handle)?.hop?.onRequestDone(code)
            if core.session(self.id) == nil { return }
        }
    }

    // MARK: From libcurl

    /// The socket of a connection; nil if libcurl never requested to watch it. libcurl itself reports the socket of a
    /// reused connection only after the request.
    func socket(of route: SocketRoute) -> Int32? {
        if let known = found[route.localPort]?.first(where: route.matches) { return known }
        // All at once: for a thousand connections, a search for each would take a million system calls.
        found = [:]
        for socket in sockets {
            if let port = SocketRoute.localPort(of: socket) { found[port, default: []].append(socket) }
        }
        return found[route.localPort]?.first(where: route.matches)
    }

    func onWatch(socket: Int32, what: Int32, for handle: EasyHandle?) {
        if what == CURL_POLL_REMOVE {
            if handle?.socket == socket { handle?.socket = nil }
            return core.loop.forget(socket)
        }
        handle?.socket = socket
        sockets.insert(socket)
        var mask: UInt32 = 0
        if what & CURL_POLL_IN != 0 { mask |= xfer_epoll_in }
        if what & CURL_POLL_OUT != 0 { mask |= xfer_epoll_out }
        core.loop.watch(
            socket, mask: mask, token: UInt64(clamping: id) << 32 | UInt64(clamping: UInt32(bitPattern: socket)))
    }

    func onTimer(milliseconds: Int) {
        let instant = milliseconds < 0 ? nil : core.now.advanced(by: .milliseconds(milliseconds))
        core.loop.deadlines.set(.session(id), to: instant)
    }
}
