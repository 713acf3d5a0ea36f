import Glibc
package import JSONRPC

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
}

extension RPCLimits {
    package init(_ settings: Settings) {
        self.init()
        messageBytes = Int(clamping: settings.rpc.maxLine)
        clients = settings.rpc.maxClients
        clientsPerUser = settings.rpc.maxClientsPerUser
        reservedClients = settings.rpc.reservedClients
        requestTime = settings.rpc.requestTimeout
        waitingBytesPerUser = Int(clamping: settings.rpc.maxWaitingPerUser)
        requestsInFlight = settings.rpc.maxInFlight
    }
}
