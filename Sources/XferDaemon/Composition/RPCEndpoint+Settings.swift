import Glibc
import JSONRPC

extension RPCEndpoint {
    /// All inherited sockets, else one of our own.
    static func all(_ inherited: [InheritedSocket], path: String, settings: Settings) -> [RPCEndpoint] {
        inherited.isEmpty
            ? [RPCEndpoint(path: path, settings: settings)]
            : inherited.map { .inherited(descriptor: $0.descriptor) }
    }

    /// A socket of our own. Only the daemon's user can connect (0600), or one group (0660) where
    /// nobody but its members is granted access; with any other grants everybody can connect and `SO_PEERCRED` decides
    /// who is heard.
    private init(path: String, settings: Settings) {
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
    init(_ settings: Settings) {
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
