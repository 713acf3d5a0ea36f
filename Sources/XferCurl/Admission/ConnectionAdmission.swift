import CCurl
import Glibc
import XferCore
import XferModel

/// Records which connections a request tried to make and which were refused: libcurl only reports that it could not
/// connect.
struct ConnectionAdmission {
    private var refused: AdmissionRefusal?
    private var hasOpened = false

    /// Returns true if a connection may be made, and records the decision.
    mutating func admits(_ address: IPAddress?, port: UInt16, rules: AdmissionRules) -> Bool {
        if let address, let refusal = rules.refusal(ofAddress: address, port: port) {
            refused = refusal
            return false
        }
        hasOpened = true
        return true
    }

    /// The error of a request for which all of the host's addresses were refused; nil if not all were.
    func failure(host: String) -> TransferError? {
        guard let refused, !hasOpened else { return nil }
        return TransferError(refused, host: host)
    }
}

extension Hop {
    /// Checks the address of a new connection, regardless of whether it is from a name, a literal address or a proxy.
    /// Then leaves out addresses that did not answer.
    func mayConnect(to address: UnsafeMutablePointer<curl_sockaddr>) -> Bool {
        guard let rules = connection?.session.key.spec.admission else { return false }
        let (ip, port) = IPAddress.read(address)
        guard link.admission.admits(ip, port: port, rules: rules) else { return false }
        return ip.map { link.addresses.admits($0) } ?? true
    }
}

extension EasyHandle {
    /// Sets the proxy, or none, and the callback that checks the addresses of new connections.
    func setRoute(_ spec: SessionSpec) {
        // Empty rather than unset: otherwise libcurl would read the environment.
        set(CURLOPT_PROXY, spec.key.proxy ?? "")
        set(CURLOPT_NOPROXY, "")
        // A proxy's answer to CONNECT is not the origin's.
        set(CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        if let login = spec.key.proxyLogin {
            set(CURLOPT_PROXYAUTH, Int(clamping: login.scheme.mask))
            set(CURLOPT_PROXYUSERNAME, login.user)
            set(CURLOPT_PROXYPASSWORD, login.password)
        }
        xfer_easy_set_open_socket_function(easy, curlOpenSocketCallback)
        set(CURLOPT_OPENSOCKETDATA, pointer: UnsafeMutableRawPointer(bitPattern: id))
    }
}

extension ProxyLogin.Scheme {
    fileprivate var mask: Int {
        switch self {
        case .basic: xfer_auth_basic
        case .digest: xfer_auth_digest
        case .negotiate: xfer_auth_negotiate
        }
    }

    /// True if this machine's libcurl was built with the scheme.
    public var isSupported: Bool {
        guard self == .negotiate else { return true }
        return (curl_version_info(xfer_curl_version_now)?.pointee.features ?? 0) & xfer_version_spnego != 0
    }
}

extension EasyHandle {
    /// Sets the family, the interface, and the lists that replace the resolver's and the URL's addresses.
    func setConnections(_ options: ConnectionRules) {
        if options == ConnectionRules() { return }
        switch options.ipVersion {
        case .any: break
        case .ipv4: set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V4))
        case .ipv6: set(CURLOPT_IPRESOLVE, Int(CURL_IPRESOLVE_V6))
        }
        if let interface = options.interface { set(CURLOPT_INTERFACE, interface.curlText) }
        if !options.resolve.isEmpty || !options.connectTo.isEmpty {
            setConnectionLists(resolve: options.resolve, connectTo: options.connectTo)
        }
        if let path = options.unixSocket {
            set(CURLOPT_UNIX_SOCKET_PATH, path)
            // A kept connection is found by its addresses (`SocketRoute`). This one has none.
            set(CURLOPT_FORBID_REUSE, 1)
        }
    }
}

extension IPAddress {
    /// The IP address and port of a socket address. The address is nil for families other than IP.
    static func read(_ address: UnsafeMutablePointer<curl_sockaddr>) -> (IPAddress?, port: UInt16) {
        guard let offset = MemoryLayout<curl_sockaddr>.offset(of: \.addr) else { return (nil, 0) }
        // libcurl keeps as much behind the declared end as the family needs (struct Curl_sockaddr_ex).
        return read(UnsafeRawPointer(address).advanced(by: offset), family: address.pointee.family)
    }

    /// The IP address of one of getaddrinfo(3)'s results.
    static func read(_ address: UnsafePointer<sockaddr>) -> IPAddress? {
        read(UnsafeRawPointer(address), family: Int32(clamping: address.pointee.sa_family)).0
    }

    private static func read(_ raw: UnsafeRawPointer, family: Int32) -> (IPAddress?, port: UInt16) {
        switch family {
        case AF_INET:
            let found = raw.loadUnaligned(as: sockaddr_in.self)
            let bytes = withUnsafeBytes(of: found.sin_addr) { Array($0) }
            return (IPAddress(bytes: bytes), UInt16(bigEndian: found.sin_port))
        case AF_INET6:
            let found = raw.loadUnaligned(as: sockaddr_in6.self)
            let bytes = withUnsafeBytes(of: found.sin6_addr) { Array($0) }
            return (IPAddress(bytes: bytes), UInt16(bigEndian: found.sin6_port))
        default:
            return (nil, 0)
        }
    }
}
