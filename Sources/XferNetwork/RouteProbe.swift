import CLinux
public import XferModel

/// Asks the kernel for the route to an address. Nothing is sent.
public enum RouteProbe {
    /// The source address for packets to the destination; nil when there is no route.
    public static func source(to destination: IPAddress) -> IPAddress? {
        var source = [UInt8](repeating: 0, count: destination.bytes.count)
        guard xfer_route_source(destination.bytes, destination.isIPv6 ? 1 : 0, &source) == 0 else { return nil }
        return IPAddress(bytes: source)
    }
}
