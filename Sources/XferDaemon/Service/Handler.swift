package import JSONRPC
import StrictJSON
package import XferProtocol

/// One method's handler with its types erased: decodes strictly, calls, encodes.
package struct Handler: Sendable {
    package let name: String
    let access: MethodAccess
    let isBulk: Bool
    let isWaiting: Bool
    let hasLongAnswer: Bool
    let isBrief: Bool
    /// Returns the result's text.
    let respond: @Sendable (JSONValue?, CallContext) async throws -> [UInt8]

    /// A handler for `method`: `body` gets decoded parameters and returns a typed result.
    package init<Method: RPCMethod>(
        _ method: Method.Type,
        _ body: @escaping @Sendable (Method.Params, CallContext) async throws -> Method.Result
    ) {
        self.init(method, encoding: { params, context, encode in encode(try await body(params, context)) })
    }

    /// A handler whose `body` encodes its result itself, for example within a turn.
    package init<Method: RPCMethod>(
        _ method: Method.Type,
        encoding body:
            @escaping @Sendable (
                Method.Params, CallContext, _ encode: (Method.Result) -> [UInt8]
            ) async throws -> [UInt8]
    ) {
        name = Method.name
        access = Method.access
        isBulk = Method.isBulk
        isWaiting = Method.isWaiting
        hasLongAnswer = Method.hasLongAnswer
        isBrief = Method.isBrief
        respond = { params, context in
            let params = try Method.Params(wire: params ?? .object(JSONObject()), mode: .strict)
            return try await body(params, context) { result in
                var text: [UInt8] = []
                text.reserveCapacity(1024)
                result.write(to: &text)
                return text
            }
        }
    }
}

/// The caller of a method, and its connection.
package struct CallContext: Sendable {
    package let caller: Caller
    package let connection: RPCConnection
}
