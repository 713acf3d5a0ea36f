import NIOCore
import NIOHTTP1
import XferModel

// Requests of clients on the network.

extension HTTPHandler {
    /// Ends the connection of the current request, unless it belongs to the channel.
    func release() {
        guard case .gated = origin else { return }
        let ended = connection
        connection = nil
        ended?.didClose()
    }

    /// The target of the request, or nil if the request was refused and the answer is on its way.
    func target(of head: HTTPRequestHead, context: ChannelHandlerContext) -> HTTPTarget? {
        guard case .gated(let gated) = origin else { return HTTPTarget(head, routes: routes) }
        let request = HTTPRequest(head)
        let decision = gated.gate.decide(request)
        addedHeaders = decision.headers
        switch decision.outcome {
        case .refused(let answer, let delay) where delay > .zero:
            refuse(head, with: answer, after: delay, context: context)
            return nil
        case .refused(let answer, _):
            return .refused(answer)
        case .admitted(let client):
            open(gated.connection(for: client, on: context.channel), gated.gate, for: request)
            return HTTPTarget(head, routes: routes, isGated: true)
        case .upgraded(let client):
            open(gated.connection(for: client, on: context.channel), gated.gate, for: request)
            return .upgrade
        }
    }

    private func open(_ connection: RPCConnection, _ gate: any HTTPGate, for request: HTTPRequest) {
        self.connection = connection
        gate.opened(connection, for: request)
    }

    /// Answers after a delay, in which the request's body is dropped, and closes the connection.
    private func refuse(
        _ head: HTTPRequestHead, with answer: HTTPAnswer, after delay: Duration, context: ChannelHandlerContext
    ) {
        timer.stop()
        isLastRequest = true
        state = .answering(head)
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        context.eventLoop.scheduleTask(in: TimeAmount(delay)) {
            bound.value.handler.send(answer, to: head, lingers: true, context: bound.value.context)
        }
    }

    /// Makes the connection a WebSocket, whose messages are those of the dialect of lines.
    func upgrade(_ head: HTTPRequestHead, _ connection: RPCConnection, context: ChannelHandlerContext) {
        guard case .gated(let gated) = origin else { return context.close(promise: nil) }
        gated.gate.handshake(head, on: context.channel).assumeIsolated().whenComplete { [self] result in
            guard case .answering = state else { return }
            guard case .success(let headers) = result else {
                send(.text("this is not a WebSocket handshake (RFC 6455)\n", status: 400), to: head, context: context)
                return
            }
            state = .closing
            idleTimer?.stop()
            // From here on the connection ends with the channel.
            self.connection = nil
            context.channel.closeFuture.whenComplete { _ in connection.didClose() }
            Self.switchProtocols(
                of: context.channel, headers, gated.gate.frameHandlers(for: HTTPRequest(head)),
                LineHandler(connection: connection, dispatcher: dispatcher))
        }
    }
}
