import Glibc

/// A connected Unix stream socket. It is non-blocking and waits with poll(2). `deinit` closes it.
final class UnixSocket {
    let descriptor: Int32

    /// The descriptor that ends waiting with `.interrupted` when it becomes readable: a signalfd, a pipe or a terminal.
    var interruptDescriptor: Int32?

    init(connectingTo path: String, deadline: Deadline) throws(ConnectionError) {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.utf8)
        // One byte stays zero, because the path has to be terminated (unix(7)).
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { throw .pathTooLong(path: path) }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }

        descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | O_CLOEXEC | O_NONBLOCK, 0)
        guard descriptor >= 0 else { throw .system(call: "socket", errno: errno) }
        try connect(&address, path, deadline)
    }

    /// Wraps a connected, non-blocking socket. `deinit` closes it.
    init(adopting descriptor: Int32) { self.descriptor = descriptor }

    deinit { close(descriptor) }

    private func connect(_ address: inout sockaddr_un, _ path: String, _ deadline: Deadline) throws(ConnectionError) {
        while true {
            let code = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            if code == 0 { return }
            switch errno {
            case EINTR: continue
            // The listener's queue is full. poll(2) cannot wait for space in it (unix(7)), so try again after at most
            // 10 ms.
            case EAGAIN: try pause(deadline)
            default: throw .connecting(to: path, errno: errno)
            }
        }
    }

    private func pause(_ deadline: Deadline) throws(ConnectionError) {
        guard let timeout = deadline.pollTimeout else { throw .timedOut }
        _ = poll(nil, 0, timeout < 0 ? 10 : min(timeout, 10))
    }

    /// Appends at most 64 KiB of the available bytes to `buffer`. Returns false when there are none now.
    func read(into buffer: inout [UInt8]) throws(ConnectionError) -> Bool {
        let (count, code) = withUnsafeTemporaryAllocation(byteCount: 65_536, alignment: 1) { chunk in
            let count = recv(descriptor, chunk.baseAddress, chunk.count, 0)
            let code = errno
            buffer.append(contentsOf: UnsafeRawBufferPointer(rebasing: chunk[..<max(0, count)]))
            return (count, code)
        }
        if count > 0 { return true }
        if count == 0 { throw .closed }
        guard code == EAGAIN || code == EINTR else { throw .transferring("recv", errno: code) }
        return false
    }

    /// Writes as much as possible now; returns how many bytes that was.
    func write(_ bytes: ArraySlice<UInt8>) throws(ConnectionError) -> Int {
        let count = bytes.withUnsafeBytes { send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
        if count >= 0 { return count }
        guard errno == EAGAIN || errno == EINTR else { throw .transferring("send", errno: errno) }
        return 0
    }

    /// Waits until the socket is readable, or with `forWriting` until it is readable or writable.
    func wait(forWriting: Bool = false, until deadline: Deadline) throws(ConnectionError) {
        while true {
            guard let timeout = deadline.pollTimeout else { throw .timedOut }
            var events = Int16(POLLIN)
            if forWriting { events |= Int16(POLLOUT) }
            var descriptors = [pollfd(fd: descriptor, events: events, revents: 0)]
            if let interruptDescriptor {
                descriptors.append(pollfd(fd: interruptDescriptor, events: Int16(POLLIN), revents: 0))
            }
            let count = poll(&descriptors, nfds_t(descriptors.count), timeout)
            if count < 0 {
                guard errno == EINTR else { throw .system(call: "poll", errno: errno) }
                continue
            }
            if descriptors.count > 1, descriptors[1].revents != 0 { throw .interrupted }
            if descriptors[0].revents != 0 { return }
        }
    }
}

/// The time when waiting ends, on the monotonic clock.
struct Deadline {
    /// Time of CLOCK_MONOTONIC; nil means no deadline.
    private let nanoseconds: Int64?

    init(after timeout: Duration?) {
        nanoseconds = timeout.map { Self.now() &+ max(0, Self.nanoseconds(of: $0)) }
    }

    /// The timeout for poll(2) in milliseconds, rounded up. −1 without a deadline; nil when the deadline has passed.
    var pollTimeout: Int32? {
        guard let nanoseconds else { return -1 }
        let left = nanoseconds - Self.now()
        guard left > 0 else { return nil }
        return Int32(clamping: (left + 999_999) / 1_000_000)
    }

    private static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(clamping: time.tv_sec) * 1_000_000_000 + Int64(clamping: time.tv_nsec)
    }

    /// Converts to nanoseconds, at most about 95 years, so that adding them to a clock cannot overflow.
    private static func nanoseconds(of duration: Duration) -> Int64 {
        let (seconds, attoseconds) = duration.components
        return min(max(seconds, 0), 3_000_000_000) * 1_000_000_000 + attoseconds / 1_000_000_000
    }
}
