/// An error answer of aria2's protocol. Almost all have the code 1.
public struct Aria2Fault: Error, Hashable, Sendable, CustomStringConvertible {
    public let code: Int64
    public let message: String

    public init(_ message: String, code: Int64 = Aria2Fault.general) {
        self.code = code
        self.message = message
    }

    public var description: String { message }

    /// aria2's code for every failure of a method, wrong tokens and unknown methods included.
    public static let general: Int64 = 1

    /// The HTTP status for a single call that failed with this fault; a batch is always answered with 200.
    public var status: Int {
        switch code {
        case Self.general, -32600: 400
        case -32601: 404
        default: 500
        }
    }

    public static let unauthorized = Aria2Fault("Unauthorized")
    public static let invalidRequest = Aria2Fault("Invalid Request.", code: -32600)
    public static let invalidParams = Aria2Fault("Invalid params.", code: -32602)
    public static let parseError = Aria2Fault("Parse error.", code: -32700)

    public static func noSuchMethod(_ name: String) -> Aria2Fault {
        Aria2Fault("No such method: \(name.prefix(80))")
    }

    static func option(_ name: String, _ why: String) -> Aria2Fault { Aria2Fault("\(name): \(why)") }
}
