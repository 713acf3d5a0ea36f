import NIOCore
import NIOHTTP1
import XferModel
import XferSystem

extension Dispatcher {
    /// Answers the body of a `POST /rpc`. The status is 200 for any method's answer, 400 for a message that was refused
    /// as a whole, 204 when there is nothing to answer.
    func answer(toPost text: [UInt8], on connection: RPCConnection) async -> HTTPAnswer {
        let reply = await reply(toText: text, width: limits.requestsInFlight, on: connection)
        guard let answer = reply.text else { return HTTPAnswer(status: 204, contentType: "", body: .bytes([])) }
        return .json(answer + [UInt8(ascii: "\n")], status: reply.isRefusal ? 400 : 200)
    }
}

extension HTTPResponseHead {
    /// The head of `answer`, framed as the request allows: by length, by chunks, or by closing for HTTP/1.0.
    init(_ answer: HTTPAnswer, to request: HTTPRequestHead) {
        var headers = HTTPHeaders(answer.headers.map { ($0.name, $0.value) })
        if !answer.contentType.isEmpty { headers.replaceOrAdd(name: "Content-Type", value: answer.contentType) }
        headers.add(name: "Date", value: HTTPDate.format(Clocks.wall()))
        if !headers.contains(name: "cache-control") { headers.add(name: "Cache-Control", value: "no-store") }
        switch answer.body {
        case .bytes(let bytes):
            if answer.status != 204 { headers.replaceOrAdd(name: "Content-Length", value: String(bytes.count)) }
        case .stream(_, let length?):
            headers.replaceOrAdd(name: "Content-Length", value: String(length))
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

    /// True if the body ends with the connection.
    var isCutByClosing: Bool { headers[canonicalForm: "connection"].contains("close") }
}
