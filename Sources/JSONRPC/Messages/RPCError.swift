public import StrictJSON

/// An error answer (JSON-RPC 2.0, section 5.1).
///
/// `data` of the errors that this library creates is an object. `reason` is a lower-case identifier that programs can
/// distinguish. `path` is the field at fault, relative to `params` if it is part of them. `limit` is the limit that was
/// reached, if there is one.
public struct RPCError: Error, Hashable, Sendable, CustomStringConvertible {
    public var code: Int
    /// One sentence for people.
    public var message: String
    public var data: JSONValue?

    public init(_ code: Int, _ message: String, data: JSONValue? = nil) {
        self.code = code
        self.message = message
        self.data = data
    }

    public var description: String { message }

    /// The code for a text that is not JSON, or that `StrictJSON` rejects.
    public static let parseErrorCode = -32700
    /// The code for JSON that is no request, or that exceeds a limit.
    public static let invalidRequestCode = -32600
    public static let methodNotFoundCode = -32601
    public static let invalidParamsCode = -32602
    public static let internalErrorCode = -32603
}

extension RPCError {
    /// The error −32600 for a message, or a member of a batch, that is no request.
    public static func invalidRequest(_ message: String, reason: String, path: String? = nil) -> RPCError {
        RPCError(invalidRequestCode, message, data: data(reason: reason, path: path))
    }

    /// The error −32600 for a message that exceeds one of `RPCLimits`.
    public static func beyondLimit(_ message: String, reason: String, limit: Int) -> RPCError {
        RPCError(invalidRequestCode, message, data: data(reason: reason, limit: limit))
    }

    /// The error −32601: no such method.
    public static func methodNotFound(_ method: String) -> RPCError {
        RPCError(methodNotFoundCode, "there is no method \"\(method)\"", data: data(reason: "method_not_found"))
    }

    /// The error −32602: invalid parameters. `path` begins at the root of `params`.
    public static func invalidParams(_ message: String, path: String? = nil) -> RPCError {
        RPCError(invalidParamsCode, message, data: data(reason: "invalid_params", path: path))
    }

    /// The error −32603: an internal error.
    public static func internalError(_ message: String) -> RPCError {
        RPCError(internalErrorCode, message, data: data(reason: "internal_error"))
    }

    /// The answer to a text that `StrictJSON` refused: −32600 when only its depth or its size is at fault,
    /// else −32700.
    init(_ error: JSONSyntaxError) {
        let prefix = "params."
        let path = error.path.hasPrefix(prefix) ? String(error.path.dropFirst(prefix.count)) : error.path
        let message = "invalid JSON: \(error)"
        switch error.reason {
        case .tooDeep(let limit):
            self = .beyondLimit(message, reason: "too_deep", limit: limit)
        case .tooLarge(let limit):
            self = .beyondLimit(message, reason: "too_many_values", limit: limit)
        case .duplicateKey:
            self.init(Self.parseErrorCode, message, data: Self.data(reason: "duplicate_key", path: path))
        case .invalidUTF8:
            self.init(Self.parseErrorCode, message, data: Self.data(reason: "invalid_utf8", path: path))
        default:
            let path = path.isEmpty ? nil : path
            self.init(Self.parseErrorCode, message, data: Self.data(reason: "parse_error", path: path))
        }
    }

    private static func data(reason: String, path: String? = nil, limit: Int? = nil) -> JSONValue {
        var object: JSONObject = ["reason": .string(reason)]
        if let path, !path.isEmpty { object.append(newKey: "path", .string(path)) }
        if let limit { object.append(newKey: "limit", .integer(Int64(clamping: limit))) }
        return .object(object)
    }
}
