import NIOConcurrencyHelpers
import NIOCore
import NIOHTTP1
import XferModel

/// One TCP connection of an `UploadServer`: reads heads, then contents piece by piece while they are stored.
struct UploadConnection {
    typealias Wire = NIOAsyncChannel<HTTPServerRequestPart, ByteBuffer>

    let wire: Wire
    let state: UploadServerState

    /// Serves until either side ends it; a client that disconnects is no error here.
    func run() async {
        try? await wire.executeThenClose { inbound, outbound in
            let parts = UploadParts(inbound.makeAsyncIterator())
            while let part = try await parts.next() {
                guard case .head(let head) = part else { continue }
                let exchange = UploadExchange(head, wire.channel, state, outbound)
                let goesOn: Bool
                do {
                    goesOn = try await exchange.serve(parts)
                } catch {
                    exchange.leave()
                    throw error
                }
                exchange.leave()
                guard goesOn else { return }
            }
        }
    }
}

/// The input of one connection.
///
/// `@unchecked Sendable`: made and read by the connection's one Swift task only.
final class UploadParts: @unchecked Sendable {
    private var iterator: NIOAsyncChannelInboundStream<HTTPServerRequestPart>.AsyncIterator

    init(_ iterator: NIOAsyncChannelInboundStream<HTTPServerRequestPart>.AsyncIterator) { self.iterator = iterator }

    func next() async throws -> HTTPServerRequestPart? { try await iterator.next() }
}

/// One request and its responses.
struct UploadExchange {
    let request: RecordedUploadRequest
    let index: Int
    let fault: UploadFault?
    let state: UploadServerState
    let announced: Int64
    private let head: HTTPRequestHead
    private let channel: any Channel
    private let writer: NIOAsyncChannelOutboundWriter<ByteBuffer>

    init(
        _ head: HTTPRequestHead, _ channel: any Channel, _ state: UploadServerState,
        _ writer: NIOAsyncChannelOutboundWriter<ByteBuffer>
    ) {
        self.head = head
        self.channel = channel
        self.state = state
        self.writer = writer
        request = RecordedUploadRequest(
            method: head.method.rawValue, target: head.uri,
            headers: head.headers.map { HeaderField(name: $0.name, value: $0.value) })
        announced = request.header("Content-Length").flatMap { Int64($0) } ?? 0
        (index, fault) = state.record(request)
    }

    /// Serves one request. Returns true if the connection continues.
    func serve(_ parts: UploadParts) async throws -> Bool {
        if request.target != "/files" { await enter(request.target) }
        switch fault {
        case .answer(let status, let headers):
            try await answer(status, headers)
            return false
        case .forget(let status):
            state.forget(request.target)
            try await answer(status)
            return false
        default: break
        }
        switch state.dialect {
        case .tus: return try await serveTus(parts)
        case .resumable: return try await serveResumable(parts)
        case .plain: return try await servePlain(parts)
        }
    }

    // MARK: One request about an upload at a time

    /// Takes an upload over from the exchange that is active on it; from here on only this exchange may append to it.
    func enter(_ target: String) async {
        let earlier = state.box.withLockedValue { values in
            let earlier = values.active[target]
            // An exchange that a gate holds does not notice that its client has gone.
            if earlier != nil, !values.hasHeld { values.requests[index].wasConcurrent = true }
            values.active[target] = channel
            return earlier
        }
        guard let earlier, earlier !== channel else { return }
        try? await earlier.close()
    }

    /// Records that the exchange has ended.
    func leave() {
        state.box.withLockedValue { values in
            values.active = values.active.filter { $0.value !== channel }
        }
    }

    // MARK: Content

    /// Stores the content at the upload's end. False when the connection is to end without an answer.
    func receive(
        _ parts: UploadParts, into target: String, progress: (Int64) async throws -> Void = { _ in }
    ) async throws -> Bool {
        if request.header("Expect")?.lowercased() == "100-continue" { try await interim(100) }
        var arrived: Int64 = 0
        var told: Int64 = 0
        while let part = try await parts.next() {
            guard case .body(let buffer) = part else { break }
            var bytes = Array(buffer.readableBytesView)
            if case .drop(let limit) = fault, arrived + Int64(bytes.count) >= limit {
                bytes = Array(bytes.prefix(Int(limit - arrived)))
                _ = state.append(bytes, to: target, request: index, from: channel)
                await ServerConnection.reset(channel)
                return false
            }
            guard state.append(bytes, to: target, request: index, from: channel) else { return false }
            arrived += Int64(bytes.count)
            if case .hold(let limit, let gate) = fault, arrived >= limit {
                state.box.withLockedValue { $0.hasHeld = true }
                await gate.wait()
            }
            if state.behaviour.readRate > 0 {
                try await Task.sleep(for: .seconds(Double(bytes.count) / Double(state.behaviour.readRate)))
            }
            if arrived - told >= state.behaviour.progressInterval, arrived < announced {
                told = arrived
                try await progress(state.upload(target)?.offset ?? 0)
            }
        }
        if case .loseAnswer = fault { return false }
        // The client's end came before the content's.
        return arrived == announced || request.header("Transfer-Encoding") != nil
    }

    /// Reads and drops the content.
    func skip(_ parts: UploadParts) async throws {
        while let part = try await parts.next() { if case .end = part { return } }
    }

    // MARK: Responses

    func interim(_ status: Int, _ headers: [HeaderField] = []) async throws {
        try await writer.write(ByteBuffer(string: Self.head(status, headers)))
    }

    func answer(_ status: Int, _ headers: [HeaderField] = [], body: String = "") async throws {
        state.box.withLockedValue { $0.requests[index].status = status }
        var fields = headers
        if status != 204 { fields.append(HeaderField(name: "Content-Length", value: String(body.utf8.count))) }
        let text = Self.head(status, fields) + (request.method == "HEAD" ? "" : body)
        try await writer.write(ByteBuffer(string: text))
    }

    /// The field `Upload-Offset` with the true offset, or the fault's.
    func offsetField(_ offset: Int64) -> [HeaderField] {
        if case .misstate(let other) = fault {
            return other.map { [HeaderField(name: "Upload-Offset", value: $0)] } ?? []
        }
        return [HeaderField(name: "Upload-Offset", value: String(offset))]
    }

    private static func head(_ status: Int, _ headers: [HeaderField]) -> String {
        let phrase = status == 104 ? "Upload Resumption Supported" : HTTPResponseStatus(statusCode: status).reasonPhrase
        return "HTTP/1.1 \(status) \(phrase)\r\n" + headers.map { "\($0.name): \($0.value)\r\n" }.joined() + "\r\n"
    }

    // MARK: Plain

    private func servePlain(_ parts: UploadParts) async throws -> Bool {
        let upload = try state.makeUpload(length: nil, headers: request.headers)
        await enter(upload.target)
        guard try await receive(parts, into: upload.target) else { return false }
        state.complete(upload.target)
        let behaviour = state.behaviour
        try await answer(behaviour.finalStatus, behaviour.finalHeaders, body: behaviour.finalBody)
        return true
    }
}
