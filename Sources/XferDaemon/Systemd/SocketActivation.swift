public import Glibc

/// Sockets the service manager opened for this process (sd_listen_fds(3)).
public struct InheritedSocket: Hashable, Sendable {
    public let descriptor: Int32
    /// The name from `LISTEN_FDNAMES`: `FileDescriptorName=` of the socket unit, else the unit's name.
    public let name: String
    /// The path it is bound to; nil for an abstract or unnamed one.
    public let path: String?
}

/// Adopts sockets that were opened before the process was started.
public enum SocketActivation {
    /// First number of inherited descriptors, `SD_LISTEN_FDS_START`.
    public static let firstDescriptor: Int32 = 3

    /// The inherited sockets, each checked to be a listening Unix stream socket and marked close-on-exec.
    ///
    /// The result is empty if `LISTEN_PID` is another process. `firstDescriptor` is a parameter for tests.
    public static func sockets(
        environment: [String: String], processID: Int32 = getpid(), firstDescriptor: Int32 = firstDescriptor
    ) throws(SocketActivationError) -> [InheritedSocket] {
        guard let countText = environment["LISTEN_FDS"], let processText = environment["LISTEN_PID"],
            Int32(processText, radix: 10) == processID
        else { return [] }
        guard let count = Int32(countText, radix: 10), (0...64).contains(count) else { throw .badCount(countText) }
        let names = environment["LISTEN_FDNAMES"]?.split(separator: ":", omittingEmptySubsequences: false) ?? []
        var sockets: [InheritedSocket] = []
        for index in 0..<count {
            let descriptor = firstDescriptor + index
            guard fcntl(descriptor, F_SETFD, FD_CLOEXEC) == 0 else { throw .notOpen(descriptor) }
            let name = names.indices.contains(Int(clamping: index)) ? String(names[Int(clamping: index)]) : "unknown"
            let path = try boundPath(descriptor)
            sockets.append(InheritedSocket(descriptor: descriptor, name: name, path: path))
        }
        return sockets
    }

    private static func boundPath(_ descriptor: Int32) throws(SocketActivationError) -> String? {
        var address = sockaddr_un()
        var length = socklen_t(MemoryLayout<sockaddr_un>.size)
        let status = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &length) }
        }
        guard status == 0, address.sun_family == sa_family_t(AF_UNIX) else { throw .notUnix(descriptor) }
        guard option(SO_TYPE, of: descriptor) == Int32(SOCK_STREAM.rawValue) else { throw .notStream(descriptor) }
        guard option(SO_ACCEPTCONN, of: descriptor) == 1 else { throw .notListening(descriptor) }
        let bytes = withUnsafeBytes(of: &address.sun_path) { Array($0.prefix { $0 != 0 }) }
        return bytes.isEmpty ? nil : String(validating: bytes, as: UTF8.self)
    }

    private static func option(_ name: Int32, of descriptor: Int32) -> Int32? {
        var value: Int32 = 0
        var length = socklen_t(MemoryLayout<Int32>.size)
        return getsockopt(descriptor, SOL_SOCKET, name, &value, &length) == 0 ? value : nil
    }
}

/// The reason why an inherited descriptor cannot be served.
public enum SocketActivationError: Error, Hashable, Sendable, CustomStringConvertible {
    case badCount(String)
    case notOpen(Int32)
    case notUnix(Int32)
    case notStream(Int32)
    case notListening(Int32)

    public var description: String {
        switch self {
        case .badCount(let text): "LISTEN_FDS: expected a number from 0 to 64, found \"\(text)\""
        case .notOpen(let descriptor): "inherited descriptor \(descriptor) is not open"
        case .notUnix(let descriptor): "inherited descriptor \(descriptor) is not a Unix socket"
        case .notStream(let descriptor): "inherited descriptor \(descriptor) is not a stream socket (ListenStream=)"
        case .notListening(let descriptor):
            "inherited descriptor \(descriptor) does not listen (Accept=yes is not supported)"
        }
    }
}
