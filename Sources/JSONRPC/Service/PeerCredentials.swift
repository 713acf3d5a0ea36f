import Glibc
import XferSystem

/// The process at the other end of a Unix socket, as the kernel recorded it when the connection was made (`SO_PEERCRED`
/// and `SO_PEERGROUPS`, unix(7)). Ids the daemon's user namespace does not know arrive as 65534.
public struct PeerCredentials: Hashable, Sendable {
    public let processID: Int32
    public let userID: UInt32
    /// The id of the primary group.
    public let groupID: UInt32
    /// Supplementary groups, in the kernel's order.
    public let supplementaryGroupIDs: [UInt32]

    public init(processID: Int32, userID: UInt32, groupID: UInt32, supplementaryGroupIDs: [UInt32] = []) {
        self.processID = processID
        self.userID = userID
        self.groupID = groupID
        self.supplementaryGroupIDs = supplementaryGroupIDs
    }
}

extension PeerCredentials {
    /// Reads the peer of `socket` from the kernel. Throws the errno of getsockopt(2).
    init(ofSocket socket: CInt) throws(SystemCallError) {
        // struct ucred {pid_t; uid_t; gid_t}, which Glibc's Swift module hides.
        var identity: (pid: Int32, uid: UInt32, gid: UInt32) = (0, .max, .max)
        var length = socklen_t(MemoryLayout.size(ofValue: identity))
        guard getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &identity, &length) == 0 else {
            throw SystemCallError("getsockopt(SO_PEERCRED)")
        }
        self.init(
            processID: identity.pid, userID: identity.uid, groupID: identity.gid,
            supplementaryGroupIDs: try Self.supplementaryGroups(ofSocket: socket))
    }

    private static func supplementaryGroups(ofSocket socket: CInt) throws(SystemCallError) -> [UInt32] {
        var groups = [UInt32](repeating: 0, count: 64)
        while true {
            var length = socklen_t(clamping: groups.count * MemoryLayout<UInt32>.stride)
            if getsockopt(socket, SOL_SOCKET, SO_PEERGROUPS, &groups, &length) == 0 {
                return Array(groups.prefix(Int(clamping: length) / MemoryLayout<UInt32>.stride))
            }
            // ERANGE comes with the required length.
            let needed = Int(clamping: length) / MemoryLayout<UInt32>.stride
            guard errno == ERANGE, needed > groups.count else { throw SystemCallError("getsockopt(SO_PEERGROUPS)") }
            groups = [UInt32](repeating: 0, count: needed)
        }
    }
}
