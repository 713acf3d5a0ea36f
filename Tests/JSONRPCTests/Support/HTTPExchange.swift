import StrictJSON
import XferTestSupport

/// One answer as a client sees it.
struct HTTPExchange {
    let status: Int
    let headers: [String: String]
    let body: String

    var json: JSONValue? { try? JSONValue(parsing: body) }
}

extension UnixSocket {
    /// Sends `request` and reads one answer; `hasBody` is false after HEAD.
    func exchange(_ request: String, hasBody: Bool = true) async throws -> HTTPExchange {
        try await send(request)
        return try await answer(hasBody: hasBody)
    }

    func answer(hasBody: Bool = true) async throws -> HTTPExchange {
        let (status, headers) = try await head()
        var body = ""
        if headers["transfer-encoding"] == "chunked", hasBody {
            while let chunk = try await chunk() { body += chunk }
        } else if let length = headers["content-length"].flatMap({ Int($0) }), hasBody, length > 0 {
            body = try await read(length)
        }
        return HTTPExchange(status: status, headers: headers, body: body)
    }

    /// Status and header fields, names in lower case.
    func head() async throws -> (status: Int, headers: [String: String]) {
        guard let first = try await readLine(), first.hasPrefix("HTTP/1."), first.hasSuffix("\r") else {
            throw TimedOut("no status line")
        }
        var headers: [String: String] = [:]
        while let line = try await readLine(), line != "\r" {
            let parts = line.dropLast().split(separator: ":", maxSplits: 1)
            guard parts.count == 2 else { throw TimedOut("no header field: \(line)") }
            headers[parts[0].lowercased()] = String(parts[1].drop { $0 == " " })
        }
        guard let status = first.split(separator: " ").dropFirst().first.flatMap({ Int($0) }) else {
            throw TimedOut("no status code: \(first)")
        }
        return (status, headers)
    }

    /// One chunk's text; nil after the last.
    func chunk() async throws -> String? {
        guard let line = try await readLine(), let length = Int(line.dropLast(), radix: 16) else {
            throw TimedOut("no chunk")
        }
        let text = try await read(length)
        _ = try await self.readLine()
        return length == 0 ? nil : text
    }
}
