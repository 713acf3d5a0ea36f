import NIOCore
import NIOHTTP1
import StrictJSON

/// Serves HTTP/1.1 on one connection: `POST /rpc` and the server's routes, one request after the other.
///
/// `HTTPServerPipelineHandler` precedes it and delivers a request only after the previous answer was written.
final class HTTPHandler: ChannelInboundHandler, RemovableChannelHandler {
    typealias InboundIn = HTTPServerRequestPart
    typealias OutboundOut = HTTPServerResponsePart

    enum State {
        case idle
        /// The request's body is being received.
        case receiving(HTTPRequestHead, HTTPTarget, body: ByteBuffer)
        case answering(HTTPRequestHead)
        /// The last answer was sent.
        case closing
    }

    /// The source of the requests that arrive.
    enum Origin {
        /// The process at the other end of a Unix socket.
        case peer(RPCConnection)
        /// The connections of clients on the network: each request has a client and a connection of its own.
        case gated(GatedRequests)
    }

    let origin: Origin
    /// The connection for the current request; nil while there is none, or if it was refused.
    var connection: RPCConnection?
    let dispatcher: Dispatcher
    let routes: HTTPRouteTable
    var state = State.idle
    /// Header fields that the gate adds to the current answer.
    var addedHeaders: [(name: String, value: String)] = []
    /// Counts the body that is being received; nil if the request was refused.
    var received: MessageBytes?
    /// The `Task` that computes the answer or sends a stream.
    var task: Task<Void, Never>?
    /// True if no further requests are accepted: the client has ended its side or the server shuts down.
    var isLastRequest = false
    var isStreaming = false
    /// Runs from a request's first byte to its last.
    let timer: RequestTimer
    /// True if bytes arrived while the current request was being answered. Then the client has begun the next request.
    var hasBytesAhead = false

    /// Runs while no request has begun.
    let idleTimer: RequestTimer?

    init(origin: Origin, dispatcher: Dispatcher, routes: HTTPRouteTable) {
        self.origin = origin
        self.dispatcher = dispatcher
        self.routes = routes
        timer = RequestTimer(dispatcher.limits.requestTime)
        idleTimer = dispatcher.limits.idleTime.map { RequestTimer($0) }
        if case .peer(let connection) = origin { self.connection = connection }
    }

    func handlerAdded(context: ChannelHandlerContext) { waitForRequest(context: context) }

    func handlerRemoved(context: ChannelHandlerContext) { idleTimer?.stop() }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch (Self.unwrapInboundIn(data), state) {
        case (.head(let head), .idle): receive(head, context: context)
        case (.body(let bytes), .receiving(let head, let target, let body)):
            receive(bytes, after: body, of: head, target, context: context)
        case (.end, .receiving(let head, let target, let body)):
            timer.stop()
            hasBytesAhead = false
            state = .answering(head)
            begin(target, head: head, body: body, context: context)
        default: break
        }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch event {
        case is HTTPBytesHandler.BytesReceived:
            onBytes(context: context)
        case ChannelEvent.inputClosed:
            finish(context: context)
        case is FinishEvent:
            // A stream might never end, so it is cancelled. The answer to a call is still sent.
            if case .answering = state, isStreaming { task?.cancel() }
            finish(context: context)
        default:
            context.fireUserInboundEventTriggered(event)
        }
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        guard let error = error as? HTTPParserError else {
            // The socket failed, most often because the client disconnected.
            if !(error is ByteToMessageDecoderError) { context.close(promise: nil) }
            return
        }
        switch state {
        case .idle, .receiving:
            let head = HTTPRequestHead(version: .http1_1, method: .GET, uri: "/")
            let answer: HTTPAnswer =
                switch error {
                case .headerOverflow: .text("the request's header is too large\n", status: 431)
                default: .text("this is not an HTTP/1.1 request: \(error)\n", status: 400)
                }
            refuse(head, with: answer, context: context)
        case .answering:
            isLastRequest = true
        case .closing:
            break
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        state = .closing
        timer.stop()
        idleTimer?.stop()
        task?.cancel()
        received?.set(0)
        release()
        context.fireChannelInactive()
    }

    private func onBytes(context: ChannelHandlerContext) {
        switch state {
        case .idle, .receiving: watch(context: context)
        case .answering: hasBytesAhead = true
        case .closing: break
        }
    }

    /// Starts the timer that closes a connection on which no request begins.
    func waitForRequest(context: ChannelHandlerContext) {
        idleTimer?.start(on: context.eventLoop) { [self] in
            if case .idle = state { context.close(promise: nil) }
        }
    }

    func watch(context: ChannelHandlerContext) {
        idleTimer?.stop()
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        timer.start(on: context.eventLoop) { bound.value.handler.giveUp(context: bound.value.context) }
    }

    private func giveUp(context: ChannelHandlerContext) {
        let seconds = dispatcher.limits.requestTime.components.seconds
        let answer = HTTPAnswer.text("the request was not complete within \(seconds) seconds\n", status: 408)
        switch state {
        case .idle: refuseUnread(with: answer, context: context)
        case .receiving(let head, _, _): refuse(head, with: answer, context: context)
        case .answering, .closing: return
        }
    }

    /// Closes the connection: at once, or after the answer to the current request.
    private func finish(context: ChannelHandlerContext) {
        isLastRequest = true
        switch state {
        case .idle, .receiving: context.close(promise: nil)
        case .answering, .closing: break
        }
    }
}

// MARK: - Requests

extension HTTPHandler {
    private func receive(_ head: HTTPRequestHead, context: ChannelHandlerContext) {
        let length = head.headers.first(name: "content-length").flatMap { Int($0, radix: 10) } ?? 0
        let hasBody = length > 0 || head.headers.contains(name: "transfer-encoding")
        if let refusal = Self.refusalOfFraming(head) {
            refuse(head, with: refusal, context: context)
            return
        }
        guard let target = target(of: head, context: context) else { return }
        switch target {
        case .refused(let answer) where hasBody:
            // To find the next request, the handler would have to read this body.
            refuse(head, with: answer, context: context)
            return
        case .rpc, .route:
            if let limit = bodyLimit(of: target), length > limit {
                refuse(head, with: tooLarge(limit), context: context)
                return
            }
        case .upgrade where hasBody:
            refuse(head, with: .text("a WebSocket handshake must not have a body\n", status: 400), context: context)
            return
        case .refused, .upgrade:
            break
        }
        state = .receiving(head, target, body: ByteBuffer())
        received = connection.map { MessageBytes(of: $0) }
        if hasBody, head.headers[canonicalForm: "expect"].contains(where: { $0.lowercased() == "100-continue" }) {
            let go = HTTPResponseHead(version: head.version, status: .continue)
            context.writeAndFlush(Self.wrapOutboundOut(.head(go)), promise: nil)
        }
    }

    /// The reason why the end of the request's body is uncertain (RFC 9112 §6.1); nil if it is certain. NIO's decoder
    /// treats a body as chunked if that is the last of several codings.
    private static func refusalOfFraming(_ head: HTTPRequestHead) -> HTTPAnswer? {
        let codings = head.headers[canonicalForm: "transfer-encoding"]
        if codings.isEmpty { return nil }
        guard head.version == .http1_1, !head.headers.contains(name: "content-length") else {
            return .text("a transfer coding needs HTTP/1.1 and excludes Content-Length\n", status: 400)
        }
        guard codings.count == 1, codings[0].lowercased() == "chunked" else {
            return .text("the only transfer coding supported is chunked\n", status: 501)
        }
        return nil
    }

    private func receive(
        _ bytes: ByteBuffer, after body: ByteBuffer, of head: HTTPRequestHead, _ target: HTTPTarget,
        context: ChannelHandlerContext
    ) {
        guard let limit = bodyLimit(of: target) else { return }
        guard body.readableBytes + bytes.readableBytes <= limit else {
            refuse(head, with: tooLarge(limit), context: context)
            return
        }
        received?.set(body.readableBytes + bytes.readableBytes)
        if let error = received?.refusal, let connection, !dispatcher.service.isPrivileged(connection) {
            refuse(head, with: Self.answer(error, status: 503), context: context)
            return
        }
        // `state` must not hold the buffer while it grows: with a second owner `writeBuffer` would copy it.
        state = .idle
        var body = body
        var bytes = bytes
        body.writeBuffer(&bytes)
        state = .receiving(head, target, body: body)
    }

    private func begin(
        _ target: HTTPTarget, head: HTTPRequestHead, body: ByteBuffer, context: ChannelHandlerContext
    ) {
        if case .refused(let answer) = target {
            send(answer, to: head, context: context)
            return
        }
        guard let connection else { return context.close(promise: nil) }
        if case .upgrade = target {
            upgrade(head, connection, context: context)
            return
        }
        if case .route = target, connection.bytes.output.isBeyondLimit {
            send(.text("\(connection.bytes.output.refusal.message)\n", status: 503), to: head, context: context)
            return
        }
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        let loop = context.eventLoop
        // The one copy: the buffer, which may be twice as long, ends with this call.
        let body = Array(body.readableBytesView)
        let count = body.count
        received?.set(0)
        connection.beginMessage(bytes: count)
        task = Task { [dispatcher] in
            let answer =
                switch target {
                case .rpc: await dispatcher.answer(toPost: body, on: connection)
                case .route(let route, let request): await route.respond(request.with(body), connection)
                case .refused(let answer): answer
                case .upgrade: HTTPAnswer.text("", status: 500)
                }
            connection.endMessage(bytes: count)
            loop.execute { bound.value.handler.send(answer, to: head, context: bound.value.context) }
        }
    }

    /// The highest number of bytes of the target's body; nil if its body is dropped.
    private func bodyLimit(of target: HTTPTarget) -> Int? {
        switch target {
        case .rpc: dispatcher.limits.messageBytes
        case .route(let route, _) where route.takesBody: min(route.maxBodyBytes, dispatcher.limits.messageBytes)
        case .route, .refused, .upgrade: nil
        }
    }

    private func tooLarge(_ limit: Int) -> HTTPAnswer {
        let error = RPCError.beyondLimit(
            "the message is longer than \(limit) bytes", reason: "message_too_large", limit: limit)
        return Self.answer(error, status: 413)
    }

    private static func answer(_ error: RPCError, status: Int) -> HTTPAnswer {
        .json(RPCAnswer.error(error, id: .null) + [UInt8(ascii: "\n")], status: status)
    }
}
