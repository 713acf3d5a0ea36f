import NIOCore
import NIOEmbedded
import NIOHTTP1
import StrictJSON
import XferProtocol

@testable import JSONRPC

/// What a client sends over the socket.
extension FuzzTarget {
    static let json = FuzzTarget(
        "json",
        seeds: [
            #"{"a":[1,-0,1.5e300,9223372036854775807,-9223372036854775808],"b":"\u00e9\ud83d\ude00\n","c":null}"#,
            #"[true,false,[[[]]],{"":{}}]"#, "18446744073709551616", "1e999", "\"\\",
        ]
    ) { bytes in
        guard let value = try? JSONValue(parsing: bytes) else { return }
        var text: [UInt8] = []
        value.write(to: &text)
        // What was understood is written such that it is understood in the same way.
        precondition((try? JSONValue(parsing: text)) == value, "a value is another one after writing and reading it")
    }

    /// A line cut out of pieces of any size, then the message, then its parameters as the method reads them.
    static let rpcLines = FuzzTarget(
        "rpc-lines",
        seeds: MethodRegistry.all.flatMap { method in
            method.examples.map { example in
                var text: [UInt8] = []
                JSONValue.object([
                    "jsonrpc": "2.0", "id": 1, "method": .string(method.name), "params": example.params,
                ]).write(to: &text)
                return String(decoding: text, as: UTF8.self)
            }
        } + ["[]", "[{}]\r\n\n", #"{"jsonrpc":"2.0","id":1e308,"method":"a"}"#]
    ) { bytes in
        var limits = RPCLimits()
        limits.messageBytes = 4096
        var framer = LineFramer(limit: limits.messageBytes)
        let size = Int(bytes.first ?? 0) + 1
        var lines: [[UInt8]] = []
        for start in stride(from: 0, to: bytes.count, by: size) {
            framer.append(ByteBuffer(bytes: bytes[start..<min(start + size, bytes.count)]))
            while let frame = framer.next() {
                guard case .line(let line) = frame else { return }
                lines.append(line)
            }
        }
        for line in lines + [framer.rest()] {
            let calls: [RPCCall] =
                switch RPCMessage(parsing: line, limits: limits) {
                case .call(let call): [call]
                case .batch(let calls): calls
                case .refused: []
                }
            for case .request(_, let name, let params?) in calls {
                if let method = MethodRegistry.method(named: name) { readParameters(of: method, params) }
                _ = MethodRegistry.suggestion(for: name)
            }
        }
    }

    private static func readParameters<Method: RPCMethod>(of method: Method.Type, _ params: JSONValue) {
        guard let read = try? Method.Params(strict: params) else { return }
        var text: [UInt8] = []
        read.write(to: &text)
        precondition((try? JSONValue(parsing: text)) != nil, "parameters of \(method.name) are written as no JSON")
    }

    static let httpDialect = FuzzTarget(
        "http-dialect",
        seeds: [
            "POST /rpc HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\n\r\n{}GET /events?since=9 HTTP/1.1\r\n\r\n",
            "POST /rpc HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
            "GET /metrics HTTP/1.0\r\nOrigin: http://a\r\nLast-Event-ID: 9223372036854775807\r\n\r\n",
        ]
    ) { bytes in
        var limits = NIOHTTPDecoderLimitConfiguration()
        limits.maxHeaderFieldSize = 4096
        limits.maxHeaderListSize = 4096
        limits.maxHeaderFieldCount = 128
        let channel = EmbeddedChannel()
        try? channel.pipeline.syncOperations.addHandler(
            ByteToMessageHandler(HTTPRequestDecoder(limitConfiguration: limits)))
        let routes = HTTPRouteTable(
            ["/events", "/metrics", "/healthz"].map { HTTPRoute($0) { _, _ in .text("", status: 200) } })
        _ = bytes.first.map(Dialect.init(firstByte:))
        _ = try? channel.writeInbound(ByteBuffer(bytes: bytes))
        while let part = try? channel.readInbound(as: HTTPServerRequestPart.self) {
            if case .head(let head) = part { _ = HTTPTarget(head, routes: routes) }
        }
        _ = try? channel.finish(acceptAlreadyClosed: true)
    }
}
