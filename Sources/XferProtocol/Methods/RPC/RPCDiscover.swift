public import StrictJSON

/// `rpc.discover`: this document (OpenRPC's service discovery method).
public enum RPCDiscover: RPCMethod {
    public typealias Params = NoParams
    public typealias Result = JSONObject

    public static let name = "rpc.discover"
    public static let isBulk = true
    public static let summary = "The OpenRPC document that describes every method, event and error."
    public static let examples = [
        MethodExample(
            "shortened", params: [:],
            result: ["openrpc": "1.3.2", "info": ["title": "xferd", "version": "1.0.0"], "methods": []])
    ]
}
