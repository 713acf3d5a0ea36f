import Glibc
package import JSONRPC
import XferManager
import XferSystem

extension RPCEndpoint {
    /// All inherited sockets, else one of our own.
    static func all(_ inherited: [InheritedSocket], path: String, settings: Settings) -> [RPCEndpoint] {
        inherited.isEmpty
            ? [RPCEndpoint(path: path, settings: settings)]
            : inherited.map { .inherited(descriptor: $0.descriptor) }
    }

    /// A socket that the service makes itself. Without grants only the daemon's user can connect (0600). If one group
    /// is the only grant, its members can (0660). With any other grants every user can connect (0666), and the service
    /// decides by `SO_PEERCRED` which ones it serves.
    package init(path: String, settings: Settings) {
        let access = settings.access
        if !access.isConfigured {
            self = .path(path, mode: 0o600)
        } else if access.users.isEmpty, access.groups.count == 1, let name = access.groups.keys.first,
            let group = AccountDirectory.system.gid(name) ?? UInt32(name, radix: 10)
        {
            self = .path(path, mode: 0o660, group: group)
        } else {
            self = .path(path, mode: 0o666)
        }
    }

    /// Sets the permissions of a socket that the service has created, after a reload, to those of a new one.
    static func setPermissions(ofSocket path: String, _ settings: Settings) throws(SystemCallError) {
        guard case .path(_, let mode, let group) = RPCEndpoint(path: path, settings: settings) else { return }
        guard lchown(path, .max, group ?? getegid()) == 0 else { throw SystemCallError("chown", on: path) }
        guard chmod(path, mode) == 0 else { throw SystemCallError("chmod", on: path) }
    }
}

extension RPCLimits {
    package init(_ settings: Settings) {
        self.init()
        messageBytes = Int(clamping: settings.rpc.maxLine)
        clients = settings.service.maxClients
        clientsPerUser = settings.rpc.maxClientsPerUser
        reservedClients = settings.rpc.reservedClients
        requestTime = settings.rpc.requestTimeout
        waitingBytesPerUser = Int(clamping: settings.rpc.maxWaitingPerUser)
        requestsInFlight = settings.rpc.maxInFlight
        requestsPerUser = settings.rpc.maxInFlight
    }
}
