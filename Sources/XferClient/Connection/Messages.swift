import StrictJSON
import XferProtocol

/// A message from the daemon.
enum ReceivedMessage: Hashable, Sendable {
    case notification(Notification)
    /// An answer; `id` is nil if the daemon could not read the message that it answers.
    case answer(id: Int64?, Result<JSONValue, RPCFailure>)

    /// Reads a line without its line break, or the text of a WebSocket's message.
    init(parsing text: ArraySlice<UInt8>) throws(ConnectionError) {
        let message: JSONValue
        do throws(JSONSyntaxError) {
            message = try JSONValue(parsing: text)
        } catch {
            throw .malformedMessage(error.description)
        }
        if let method = message["method"]?.stringValue {
            self = .notification(
                Notification(method: method, params: message["params"] ?? .object(JSONObject())))
        } else if let error = message["error"] {
            guard let failure = try? RPCFailure(lenient: error) else {
                throw .malformedMessage("an error without a code")
            }
            self = .answer(id: message["id"]?.integerValue, .failure(failure))
        } else if let result = message["result"] {
            self = .answer(id: message["id"]?.integerValue, .success(result))
        } else {
            throw .malformedMessage("neither result, error nor method")
        }
    }
}

/// The form of a call that is sent.
enum CallMessage {
    /// The message, without a line break.
    static func text(id: Int64, _ method: String, _ params: (some WireValue)?) throws(ConnectionError) -> [UInt8] {
        let message: JSONObject = ["jsonrpc": "2.0", "id": .integer(id), "method": .string(method)]
        var text: [UInt8] = []
        JSONValue.object(message).write(to: &text)
        if let params {
            text.removeLast()
            text.append(contentsOf: ",\"params\":".utf8)
            params.write(to: &text)
            text.append(UInt8(ascii: "}"))
        }
        guard text.count <= XferConnection.messageLimit else {
            throw .messageTooLong(limit: XferConnection.messageLimit)
        }
        return text
    }
}
