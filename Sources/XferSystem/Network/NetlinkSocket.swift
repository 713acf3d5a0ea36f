import CLinux
import Glibc
import XferModel

/// An rtnetlink socket. `deinit` closes it.
final class NetlinkSocket: Sendable {
    let descriptor: Int32

    /// - Parameter groups: the multicast groups to join; 0 for requests only.
    init(groups: UInt32 = 0) throws(SystemCallError) {
        descriptor = xfer_netlink_socket(groups)
        guard descriptor >= 0 else { throw SystemCallError("socket(AF_NETLINK)") }
    }

    deinit { close(descriptor) }

    /// Reads and discards all waiting messages, because only the fact matters that something has changed. Lost messages
    /// (ENOBUFS) also mean a change.
    func drain(_ buffer: inout [UInt8]) throws(SystemCallError) {
        while true {
            let count = buffer.withUnsafeMutableBytes {
                xfer_netlink_receive(descriptor, $0.baseAddress, UInt($0.count), 0)
            }
            if count >= 0 || errno == EINTR || errno == ENOBUFS { continue }
            if errno == EAGAIN { return }
            throw SystemCallError("recv")
        }
    }
}

/// Reads all links, addresses and routes from the kernel.
struct NetlinkDump: ~Copyable {
    /// The highest number of dumps that are made if changes interrupt them. After that the last dump is used: the
    /// kernel also reports the change that interrupted it, and the monitor then reads again.
    private static let tries = 4

    private let socket: NetlinkSocket
    private var sequence: UInt32 = 0

    init() throws(SystemCallError) { socket = try NetlinkSocket() }

    mutating func facts(_ buffer: inout [UInt8]) throws(SystemCallError) -> NetworkFacts {
        for _ in 1..<Self.tries {
            let (facts, isConsistent) = try dump(&buffer)
            if isConsistent { return facts }
        }
        return try dump(&buffer).facts
    }

    private mutating func dump(
        _ buffer: inout [UInt8]
    ) throws(SystemCallError) -> (facts: NetworkFacts, isConsistent: Bool) {
        var builder = FactsBuilder()
        var isConsistent = true
        for type in [RTM_GETLINK, RTM_GETADDR, RTM_GETROUTE] {
            sequence &+= 1
            guard xfer_netlink_request_dump(socket.descriptor, Int32(clamping: type), sequence) == 0 else {
                throw SystemCallError("send")
            }
            var isLast = false
            while !isLast {
                let messages: [NetlinkMessage]
                (messages, isLast) = try answer(&buffer)
                for message in messages {
                    if message.flags & UInt16(NLM_F_DUMP_INTR) != 0 { isConsistent = false }
                    builder.apply(message)
                }
            }
        }
        return (builder.facts, isConsistent)
    }

    /// The next messages of the dump, and true if they are its last ones. The kernel may put the end of a dump into the
    /// datagram of the last messages.
    private func answer(
        _ buffer: inout [UInt8]
    ) throws(SystemCallError) -> (messages: [NetlinkMessage], isLast: Bool) {
        let count = buffer.withUnsafeMutableBytes {
            xfer_netlink_receive(socket.descriptor, $0.baseAddress, UInt($0.count), 1)
        }
        guard count >= 0 else {
            if errno == EINTR { return ([], false) }
            throw SystemCallError("recv")
        }
        let messages = NetlinkMessage.messages(in: buffer.prefix(count)).filter { $0.sequence == sequence }
        for message in messages where Int(clamping: message.type) == Int(NLMSG_ERROR) {
            let code = message.payload.read(Int32.self) ?? -EPROTO
            throw SystemCallError("dump", code: 0 &- code)
        }
        return (messages, messages.contains { Int(clamping: $0.type) == Int(NLMSG_DONE) })
    }
}
