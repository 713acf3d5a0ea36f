import StrictJSON

/// One element of a client's message: a request, a notification, or something invalid.
enum RPCCall: Hashable, Sendable {
    /// Has to be answered with `id`: a string, a number or null.
    case request(id: JSONValue, method: String, params: JSONValue?)
    /// Has no answer.
    case notification(method: String, params: JSONValue?)
    /// Invalid JSON for a request; `id` is null when it could not be read.
    case invalid(id: JSONValue, RPCError)
}

/// One message of a client (JSON-RPC 2.0, sections 4 and 6).
enum RPCMessage: Hashable, Sendable {
    case call(RPCCall)
    /// Several requests; never empty.
    case batch([RPCCall])
    /// Neither a request nor a batch: the one answer has id null.
    case refused(RPCError)
}

extension RPCMessage {
    /// Reads one message; every fault becomes an error for the client.
    init(parsing text: [UInt8], limits: RPCLimits) {
        let value: JSONValue
        do throws(JSONSyntaxError) {
            value = try JSONValue(parsing: text, maxDepth: limits.nestingDepth, maxMemory: limits.decodedBytes)
        } catch {
            self = .refused(RPCError(error))
            return
        }
        guard case .array(let elements) = value else {
            self = .call(RPCCall(value))
            return
        }
        if elements.isEmpty {
            self = .refused(.invalidRequest("a batch needs at least one request", reason: "empty_batch"))
        } else if elements.count > limits.batchRequests {
            let message = "a batch of \(elements.count) requests; at most \(limits.batchRequests) are allowed"
            self = .refused(.beyondLimit(message, reason: "batch_too_large", limit: limits.batchRequests))
        } else {
            self = .batch(elements.map(RPCCall.init))
        }
    }
}

extension RPCCall {
    init(_ value: JSONValue) {
        guard case .object(let object) = value else {
            self = .invalid(id: .null, Self.refusal("a request has to be an object"))
            return
        }
        let id: JSONValue?
        do throws(RPCError) {
            id = try Self.id(of: object)
        } catch {
            self = .invalid(id: .null, error)
            return
        }
        do throws(RPCError) {
            let (method, params) = try Self.content(of: object)
            self =
                if let id {
                    .request(id: id, method: method, params: params)
                } else {
                    .notification(method: method, params: params)
                }
        } catch {
            self = .invalid(id: id ?? .null, error)
        }
    }

    /// The request's id, or nil if it has none, which makes the request a notification.
    private static func id(of object: JSONObject) throws(RPCError) -> JSONValue? {
        switch object["id"] {
        case nil: return nil
        case .string(let text)?:
            guard text.utf8.count <= 1024 else { throw refusal("id has to be at most 1,024 bytes long", path: "id") }
            return .string(text)
        case .number(let number)?:
            guard number.text.utf8.count <= 1024 else {
                throw refusal("id has to be at most 1,024 bytes long", path: "id")
            }
            return .number(number)
        case let value? where value.isNull || value.integerValue != nil: return value
        default: throw refusal("id has to be a string, a number or null", path: "id")
        }
    }

    private static func content(of object: JSONObject) throws(RPCError) -> (method: String, params: JSONValue?) {
        guard object["jsonrpc"]?.stringValue == "2.0" else {
            throw refusal("jsonrpc has to be \"2.0\"", path: "jsonrpc")
        }
        guard let method = object["method"]?.stringValue else {
            throw refusal("method has to be a string", path: "method")
        }
        let given = object["params"]
        let params: JSONValue?
        switch given {
        case .array?, .object?:
            // An empty array means no parameters, like null: some clients always send the member.
            params = given?.arrayValue?.isEmpty == true ? nil : given
        case let value where value?.isNull ?? true: params = nil
        default: throw refusal("params has to be an object or an array", path: "params")
        }
        for (key, _) in object.members where !["jsonrpc", "id", "method", "params"].contains(key) {
            let name = key.utf8.count <= 64 ? key : String(key.prefix(64)) + "…"
            throw refusal("unknown member of the request: \"\(name)\"", path: name)
        }
        return (method, params)
    }

    private static func refusal(_ message: String, path: String? = nil) -> RPCError {
        .invalidRequest(message, reason: "invalid_request", path: path)
    }
}
