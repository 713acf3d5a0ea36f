import Glibc
import NIOCore
import NIOHTTP1
import XferModel

/// One TCP connection: reads requests one after another and writes the replies' bytes.
struct ServerConnection {
    typealias Wire = NIOAsyncChannel<HTTPServerRequestPart, ByteBuffer>
    private typealias Writer = NIOAsyncChannelOutboundWriter<ByteBuffer>

    let number: Int
    let wire: Wire
    let state: ServerState

    /// Serves until either side ends it; a client that disconnects is no error here.
    func run() async {
        try? await wire.executeThenClose { inbound, outbound in
            var head: HTTPRequestHead?
            var body: [UInt8] = []
            for try await part in inbound {
                switch part {
                case .head(let received): (head, body) = (received, [])
                case .body(let buffer): body.append(contentsOf: buffer.readableBytesView)
                case .end:
                    guard let complete = head, try await answer(complete, body, outbound) else { return }
                    head = nil
                }
            }
        }
    }

    /// Answers a request. Returns true if the connection continues.
    private func answer(_ head: HTTPRequestHead, _ body: [UInt8], _ writer: Writer) async throws -> Bool {
        let (request, handler) = state.record { index in
            RecordedRequest(
                index: index, connection: number, method: head.method.rawValue, target: head.uri,
                headers: head.headers.map { HeaderField(name: $0.name, value: $0.value) }, body: body)
        }
        let reply = await handler(request)
        await reply.headGate?.wait()
        if reply.rawHead == nil { state.update(request.index) { $0.status = reply.status } }
        try await writer.write(ByteBuffer(bytes: Self.head(of: reply)))
        for part in reply.body { try await write(part, of: reply, for: request, writer) }
        // A chunked body that a fault cut off must not get its last chunk.
        if reply.isChunked && reply.ending == .keepAlive { try await writer.write(ByteBuffer(string: "0\r\n\r\n")) }
        state.update(request.index) { $0.isAnswered = true }
        return await end(reply.ending)
    }

    private func end(_ ending: Reply.Ending) async -> Bool {
        switch ending {
        case .keepAlive: return true
        case .close: return false
        case .reset:
            await Self.reset(wire.channel)
            return false
        case .hang:
            try? await wire.channel.closeFuture.get()
            return false
        }
    }

    /// Closes with RST once everything sent has been acknowledged, as far as the kernel can tell within a second.
    static func reset(_ channel: any Channel) async {
        guard let socket = channel as? any SocketOptionProvider else { return }
        for _ in 0..<1000 {
            guard let info = try? await socket.getTCPInfo().get(), info.tcpi_unacked > 0 else { break }
            try? await Task.sleep(for: .milliseconds(1))
        }
        try? await socket.setSoLinger(linger(l_onoff: 1, l_linger: 0)).get()
        try? await channel.close()
    }

    private func write(_ part: Reply.Part, of reply: Reply, for request: RecordedRequest, _ writer: Writer) async throws
    {
        switch part {
        case .gate(let gate): await gate.wait()
        case .pause(let duration): try await Task.sleep(for: duration)
        case .bytes(let bytes): try await write(bytes, of: reply, for: request, writer)
        case .source(let version, let range):
            var offset = range.lowerBound
            while offset < range.upperBound {
                let end = min(range.upperBound, offset + 1 << 16)
                try await write(version.bytes(offset..<end), of: reply, for: request, writer)
                offset = end
            }
        }
    }

    private func write(_ bytes: [UInt8], of reply: Reply, for request: RecordedRequest, _ writer: Writer) async throws {
        var buffer = ByteBuffer()
        if reply.isChunked { buffer.writeString("\(String(bytes.count, radix: 16))\r\n") }
        buffer.writeBytes(bytes)
        if reply.isChunked { buffer.writeString("\r\n") }
        try await writer.write(buffer)
        state.update(request.index) { $0.sent += Int64(bytes.count) }
    }

    private static func head(of reply: Reply) -> [UInt8] {
        if let raw = reply.rawHead { return reply.preamble + raw }
        let status = HTTPResponseStatus(statusCode: reply.status)
        let fields = reply.headers.map { "\($0.name): \($0.value)\r\n" }.joined()
        return reply.preamble + Array("HTTP/1.1 \(reply.status) \(status.reasonPhrase)\r\n\(fields)\r\n".utf8)
    }
}
