import NIOCore
import NIOHTTP1

/// Answers: each is sent when the previous one was accepted by the socket, and may end the connection.
extension HTTPHandler {
    /// Answers before the request is complete, and closes the connection.
    func refuse(_ head: HTTPRequestHead, with answer: HTTPAnswer, context: ChannelHandlerContext) {
        isLastRequest = true
        state = .answering(head)
        received?.set(0)
        send(answer, to: head, lingers: true, context: context)
    }

    /// Answers bytes that are not a complete request head, and closes the connection.
    ///
    /// It bypasses `HTTPServerPipelineHandler`, which traps on an answer without a request.
    func refuseUnread(with answer: HTTPAnswer, context: ChannelHandlerContext) {
        isLastRequest = true
        state = .closing
        var head = HTTPResponseHead(answer, to: HTTPRequestHead(version: .http1_1, method: .GET, uri: "/"))
        head.headers.replaceOrAdd(name: "connection", value: "close")
        do {
            let behind = try context.pipeline.syncOperations.context(handlerType: HTTPServerPipelineHandler.self)
            behind.write(Self.wrapOutboundOut(.head(head)), promise: nil)
            if case .bytes(let bytes) = answer.body {
                behind.write(Self.wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: bytes)))), promise: nil)
            }
            behind.writeAndFlush(Self.wrapOutboundOut(.end(nil))).assumeIsolated()
                .whenComplete { [lingering = dispatcher.limits.lingering] _ in
                    LingeringCloseHandler.close(context.channel, within: lingering)
                }
        } catch {
            context.close(promise: nil)
        }
    }

    func send(
        _ answer: HTTPAnswer, to head: HTTPRequestHead, lingers: Bool = false, context: ChannelHandlerContext
    ) {
        guard case .answering = state else { return }
        // After a request for an upgrade (`curl --http2` sends one), NIO's decoder reads no further request.
        let isLast = isLastRequest || !head.isKeepAlive || head.headers.contains(name: "upgrade")
        var response = HTTPResponseHead(answer, to: head)
        if isLast { response.headers.replaceOrAdd(name: "connection", value: "close") }
        for (name, value) in addedHeaders { response.headers.replaceOrAdd(name: name, value: value) }
        isLastRequest = isLast || response.isCutByClosing
        let headWritten = context.write(Self.wrapOutboundOut(.head(response)))
        switch answer.body {
        case .stream(let chunks, let length) where head.method != .HEAD:
            context.flush()
            stream(chunks, length: length, context: context)
        case .bytes(let bytes) where head.method != .HEAD && !bytes.isEmpty:
            let output = connection?.bytes.output
            output?.add(bytes.count)
            let written = context.write(Self.wrapOutboundOut(.body(.byteBuffer(ByteBuffer(bytes: bytes)))))
            written.whenComplete { _ in output?.add(-bytes.count) }
            end(after: written, lingers: lingers, context: context)
        case .bytes, .stream:
            end(after: headWritten, lingers: lingers, context: context)
        }
    }

    /// Ends the answer when the socket has accepted it: if a client sends requests and reads nothing, the next request
    /// waits, and answers do not gather.
    private func end(after written: EventLoopFuture<Void>, lingers: Bool, context: ChannelHandlerContext) {
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        written.assumeIsolated().whenComplete { _ in
            bound.value.handler.end(lingers: lingers, context: bound.value.context)
        }
        context.flush()
    }

    /// Sends each chunk after the socket has accepted the previous one.
    private func stream(
        _ chunks: any AsyncSequence<[UInt8], any Error> & Sendable, length: Int64?, context: ChannelHandlerContext
    ) {
        isStreaming = true
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        let channel = context.channel
        task = Task {
            var rest = length
            do {
                for try await chunk in chunks where !chunk.isEmpty {
                    rest = rest.map { $0 - Int64(chunk.count) }
                    if let rest, rest < 0 { break }
                    let part = HTTPServerResponsePart.body(.byteBuffer(ByteBuffer(bytes: chunk)))
                    try await channel.writeAndFlush(part).get()
                }
            } catch is CancellationError {
                // The server cancelled the stream, for example at shutdown. The response ends as usual.
            } catch {
                channel.close(promise: nil)
                return
            }
            if let rest, rest != 0 {
                channel.close(promise: nil)
                return
            }
            channel.eventLoop.execute {
                bound.value.handler.isStreaming = false
                bound.value.handler.end(lingers: false, context: bound.value.context)
            }
        }
    }

    private func end(lingers: Bool, context: ChannelHandlerContext) {
        guard case .answering = state else { return }
        task = nil
        release()
        addedHeaders = []
        let isLast = isLastRequest
        // `state` changes before the end is written, because that write makes `HTTPServerPipelineHandler` deliver the
        // next request.
        state = isLast ? .closing : .idle
        if !isLast, hasBytesAhead { watch(context: context) }
        if !isLast, !hasBytesAhead { waitForRequest(context: context) }
        hasBytesAhead = false
        let sent = context.writeAndFlush(Self.wrapOutboundOut(.end(nil)))
        guard isLast else { return }
        sent.assumeIsolated().whenComplete { [lingering = dispatcher.limits.lingering] _ in
            if lingers {
                LingeringCloseHandler.close(context.channel, within: lingering)
            } else {
                context.close(promise: nil)
            }
        }
    }
}
