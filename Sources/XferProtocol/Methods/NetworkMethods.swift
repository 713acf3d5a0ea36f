import StrictJSON
public import XferModel

/// The methods of `network.*`, in the order of the document.
enum NetworkMethods {
    static let all: [any RPCMethod.Type] = [NetworkStatus.self]
}

/// `network.status`: the state of the network, and the route to an address.
public enum NetworkStatus: RPCMethod {
    public static let name = "network.status"
    public static let access = MethodAccess.users
    public static let scope = MethodScope.read
    public static let summary =
        "State of the network, and the route to an address. No packet is sent, and no name is looked up."
    public static let examples = [
        MethodExample(
            "a laptop on the road", params: ["host": "198.51.100.9"],
            result: [
                "state": "metered", "monitored": true,
                "interfaces": [
                    [
                        "name": "lo", "index": 1, "running": true, "metered": false, "default_route": false,
                        "addresses": ["127.0.0.1/8", "::1/128"],
                    ],
                    [
                        "name": "wwan0", "index": 3, "running": true, "metered": true, "default_route": true,
                        "addresses": ["192.0.2.17/24"],
                    ],
                ],
                "route": ["host": "198.51.100.9", "exists": true, "source": "192.0.2.17", "interface": "wwan0"],
            ]),
        MethodExample(
            "a name", params: ["host": "example.org"],
            result: [
                "state": "unknown", "monitored": false, "interfaces": [],
                "route": ["host": "example.org", "exists": nil],
            ]),
    ]

    public struct Params: WireInput, WireParams, Hashable {
        public var host: String?

        public init() {}
        public init(host: String?) { self.host = host }

        public static let summary = "The destination of the route."
        public static let wireFields: WireFields<Self> = [
            .optional(
                "host", \.host, "An IPv4 or IPv6 address. A name gets no route: it is not looked up.",
                .length(1...255), .printable, example: "198.51.100.9")
        ]
    }

    public struct Result: WireRecord, Hashable {
        public var state = OpenEnum(NetworkState.unknown)
        public var monitored = false
        public var interfaces: [Interface] = []
        public var route: Route?

        public init() {}

        public static let summary = "State of the network."
        public static let wireFields: WireFields<Self> = [
            .required(
                "state", \.state,
                "unknown (treated as online), offline (no usable default route), metered or unmetered."),
            .required("monitored", \.monitored, "True if links, addresses and routes are watched (network.monitor)."),
            .required("interfaces", \.interfaces, "Network interfaces by index; empty while they are not watched."),
            .optional("route", \.route, "Route to the requested host."),
        ]
    }

    public struct Interface: WireRecord, Hashable {
        public var name = ""
        public var index = 0
        public var running = false
        public var metered = false
        public var defaultRoute = false
        public var addresses: [String] = []

        public init() {}

        public static let summary = "A network interface."
        public static let wireFields: WireFields<Self> = [
            .required("name", \.name, "Its name."),
            .required("index", \.index, "Its number."),
            .required("running", \.running, "True if it is up and has a carrier."),
            .required("metered", \.metered, "True if network.metered_interfaces lists it."),
            .required("default_route", \.defaultRoute, "True if a default route uses it."),
            .required("addresses", \.addresses, "Its addresses with the lengths of their prefixes."),
        ]
    }

    public struct Route: WireRecord, Hashable {
        public var host = ""
        public var exists: Bool?
        public var source: String?
        public var interface: String?

        public init() {}
        public init(host: String) { self.host = host }

        public static let summary = "The route to a host."
        public static let wireFields: WireFields<Self> = [
            .required("host", \.host, "The requested host."),
            .nullable("exists", \.exists, "True if there is a route; null for a name."),
            .optional("source", \.source, "Source address of this machine."),
            .optional("interface", \.interface, "The interface that has this address, if known."),
        ]
    }
}
