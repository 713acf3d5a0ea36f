import StrictJSON
import XferTestSupport

extension UnixSocket {
    /// The next line as JSON.
    func message() async throws -> JSONValue {
        guard let line = try await readLine() else { throw TimedOut("the connection ended before a line") }
        return try JSONValue(parsing: line)
    }

    /// Sends one request and gives its answer, which has to be the next line.
    func call(_ method: String, _ params: JSONValue? = nil) async throws -> JSONValue {
        var request: JSONObject = ["jsonrpc": "2.0", "id": "call", "method": .string(method)]
        if let params { request["params"] = params }
        try await send(JSONValue.object(request).text + "\n")
        return try await message()
    }
}
