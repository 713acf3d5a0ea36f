import StrictJSON

/// Texts of answers and notifications as sent, without line end.
enum RPCAnswer {
    /// A result, or an error in its place if it is longer than `limit` bytes.
    static func result(_ result: RPCResult, id: JSONValue, limit: Int) -> [UInt8] {
        var text = Array(#"{"jsonrpc":"2.0","result":"#.utf8)
        switch result {
        case .value(let value): value.write(to: &text)
        case .encoded(let bytes):
            guard !bytes.contains(UInt8(ascii: "\n")) else {
                return error(.internalError("the result contains a line break"), id: id)
            }
            text.append(contentsOf: bytes)
        }
        append(id: id, to: &text)
        guard text.count <= limit else { return error(tooLarge(limit: limit), id: id) }
        return text
    }

    /// An error. One longer than `limit` bytes is sent without its data and with its message cut.
    static func error(_ error: RPCError, id: JSONValue, limit: Int = .max) -> [UInt8] {
        var text = Array(#"{"jsonrpc":"2.0","error":{"code":"#.utf8)
        text.appendJSON(Int64(clamping: error.code))
        text.append(contentsOf: #","message":"#.utf8)
        text.appendJSON(error.message)
        if let data = error.data {
            text.append(contentsOf: #","data":"#.utf8)
            data.write(to: &text)
        }
        text.append(UInt8(ascii: "}"))
        append(id: id, to: &text)
        guard text.count > limit else { return text }
        return Self.error(RPCError(error.code, String(error.message.prefix(256)) + "…"), id: id)
    }

    /// A message to the client that needs no answer. `params` is JSON text.
    static func notification(_ method: String, params: some Collection<UInt8>) -> [UInt8] {
        var text = Array(#"{"jsonrpc":"2.0","method":"#.utf8)
        text.appendJSON(method)
        text.append(contentsOf: #","params":"#.utf8)
        text.append(contentsOf: params)
        text.append(UInt8(ascii: "}"))
        return text
    }

    /// The error in place of an answer that would have more than `limit` bytes: the request was carried out.
    static func tooLarge(limit: Int) -> RPCError {
        .beyondLimit(
            "the request was carried out, but its answer is longer than \(limit) bytes; request less at a time",
            reason: "answer_too_large", limit: limit)
    }

    private static func append(id: JSONValue, to text: inout [UInt8]) {
        text.append(contentsOf: #","id":"#.utf8)
        id.write(to: &text)
        text.append(UInt8(ascii: "}"))
    }
}
