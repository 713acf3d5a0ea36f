import Glibc
import NIOCore
import NIOHTTP1

extension Dispatcher {
    /// Answers the body of a `POST /rpc`. The status is 200 for any method's answer, 400 for a message that was refused
    /// as a whole, 204 when there is nothing to answer.
    func answer(toPost body: ByteBuffer, on connection: RPCConnection) async -> HTTPAnswer {
        let message = RPCMessage(parsing: Array(body.readableBytesView), limits: limits)
        let reply = await reply(to: message, width: limits.requestsInFlight, on: connection)
        guard let text = reply.text else { return HTTPAnswer(status: 204, contentType: "", body: .bytes([])) }
        return .json(text + [UInt8(ascii: "\n")], status: reply.isRefusal ? 400 : 200)
    }
}

extension HTTPResponseHead {
    /// The head of `answer`, framed as the request allows: by length, by chunks, or by closing for HTTP/1.0.
    init(_ answer: HTTPAnswer, to request: HTTPRequestHead) {
        var headers = HTTPHeaders(answer.headers.map { ($0.name, $0.value) })
        if !answer.contentType.isEmpty { headers.replaceOrAdd(name: "Content-Type", value: answer.contentType) }
        headers.add(name: "Date", value: HTTPDate.now())
        if !headers.contains(name: "cache-control") { headers.add(name: "Cache-Control", value: "no-store") }
        switch answer.body {
        case .bytes(let bytes):
            if answer.status != 204 { headers.replaceOrAdd(name: "Content-Length", value: String(bytes.count)) }
        case .stream where request.version == .http1_1:
            // The head for HEAD is that of GET, but the encoder must not write a last chunk.
            if request.method != .HEAD { headers.replaceOrAdd(name: "Transfer-Encoding", value: "chunked") }
        case .stream:
            headers.replaceOrAdd(name: "Connection", value: "close")
        }
        if request.version == .http1_0, request.isKeepAlive, !headers.contains(name: "connection") {
            headers.add(name: "Connection", value: "keep-alive")
        }
        self.init(version: request.version, status: HTTPResponseStatus(statusCode: answer.status), headers: headers)
    }

    /// Whether the end of the body is the end of the connection.
    var isCutByClosing: Bool { headers[canonicalForm: "connection"].contains("close") }
}

/// Dates as HTTP writes them: `Sun, 06 Nov 1994 08:49:37 GMT` (RFC 9110, section 5.6.7).
enum HTTPDate {
    static func now() -> String { text(for: time(nil)) }

    /// `seconds` since 1970; years before 1000 and after 9999, which have no four digits, are written as these.
    static func text(for seconds: time_t) -> String {
        var seconds = min(max(seconds, -30_610_224_000), 253_402_300_799)
        var date = tm()
        gmtime_r(&seconds, &date)
        let days = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
        let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
        let clock = [date.tm_hour, date.tm_min, date.tm_sec].map(twoDigits).joined(separator: ":")
        let year = 1900 + date.tm_year
        return
            "\(days[Int(clamping: date.tm_wday)]), \(twoDigits(date.tm_mday)) \(months[Int(clamping: date.tm_mon)]) \(year) \(clock) GMT"
    }

    private static func twoDigits(_ number: CInt) -> String { number < 10 ? "0\(number)" : "\(number)" }
}
