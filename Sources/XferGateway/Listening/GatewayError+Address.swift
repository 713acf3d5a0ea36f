import Glibc

extension GatewayError {
    /// The reason why a listener cannot have its address, with the remedy; nil for an unusual error number.
    static func reason(_ code: Int32, host: String) -> String? {
        switch code {
        case EADDRNOTAVAIL:
            "this machine has no address \(host): `ip addr` lists those it has, and "
                + "\(host.contains(":") ? "[::]" : "0.0.0.0") is all of them"
        case EADDRINUSE: "another program listens there: `ss -ltnp` lists it"
        case EACCES: "the port is reserved for root: use one above 1023"
        default: nil
        }
    }
}
