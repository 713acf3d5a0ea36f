import Testing
import XferTestSupport

@testable import XferGateway

/// The client's side of a WebSocket.
final class WebSocketClient: Sendable {
    struct Frame: Sendable {
        let opcode: UInt8
        let data: [UInt8]
    }

    let socket: RawSocket

    init(_ socket: RawSocket) { self.socket = socket }

    /// Opens a WebSocket; throws unless it is accepted.
    static func open(
        _ world: GatewayWorld, path: String = AccessGate.socketPath, token: String?
    ) async throws -> WebSocketClient {
        let socket = try RawSocket(port: world.port)
        try socket.send(handshake(path: path, token: token))
        let head = try await socket.head()
        guard head.hasPrefix("HTTP/1.1 101 Switching Protocols\r\n") else { throw TimedOut(head) }
        // The example of RFC 6455 §1.3.
        #expect(head.lowercased().contains("sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo="), "\(head)")
        return WebSocketClient(socket)
    }

    static func handshake(
        path: String = AccessGate.socketPath, token: String?, fields: String = ""
    ) -> String {
        let authorization = token.map { "Authorization: Bearer \($0)\r\n" } ?? ""
        return "GET \(path) HTTP/1.1\r\nHost: localhost\r\n\(authorization)\(fields)Upgrade: websocket\r\n"
            + "Connection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n"
    }

    func send(_ text: String) throws { try send(opcode: 1, Array(text.utf8)) }

    /// Sends a masked frame of less than 65,536 bytes.
    ///
    /// - Parameter reserved: bits beside the opcode.
    func send(opcode: UInt8, _ data: [UInt8], isFinal: Bool = true, reserved: UInt8 = 0) throws {
        var bytes: [UInt8] = [(isFinal ? 0x80 : 0) | reserved | opcode]
        if data.count < 126 {
            bytes.append(0x80 | UInt8(clamping: data.count))
        } else {
            bytes += [0x80 | 126, UInt8(clamping: data.count >> 8), UInt8(clamping: data.count & 0xFF)]
        }
        let mask: [UInt8] = [1, 2, 3, 4]
        bytes += mask + data.enumerated().map { $0.element ^ mask[$0.offset % 4] }
        try socket.send(bytes)
    }

    /// The next frame. It reads no byte of the frame behind it.
    func frame() async throws -> Frame {
        let socket = socket
        return try await offThread {
            let head = try socket.receive(exactly: 2)
            var length = Int(head[1])
            if length == 126 {
                let wide = try socket.receive(exactly: 2)
                length = Int(wide[0]) << 8 | Int(wide[1])
            }
            return Frame(opcode: head[0] & 0x0F, data: try socket.receive(exactly: length))
        }
    }

    func text() async throws -> String {
        let frame = try await frame()
        guard frame.opcode == 1 else { throw TimedOut("a frame of opcode \(frame.opcode)") }
        return String(decoding: frame.data, as: UTF8.self)
    }

    /// The code of the frame that closes the WebSocket, after all others.
    func closeCode() async throws -> Int {
        while true {
            let frame = try await frame()
            if frame.opcode == 8 { return frame.data.reduce(0) { $0 << 8 | Int($1) } }
        }
    }
}
