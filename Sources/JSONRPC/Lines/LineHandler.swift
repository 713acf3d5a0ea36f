import NIOCore
import StrictJSON

/// The NDJSON dialect of one connection: lines in, lines out.
///
/// It stops reading while the gate is closed or the client does not read its answers. Each request runs in a `Task` of
/// its own. The answers gather in the connection's outbox, and one write sends all that have gathered. After the end of
/// the input, or when the server shuts down, the handler closes the connection as soon as all answers to the requests
/// that have begun are sent.
final class LineHandler: ChannelDuplexHandler {
    typealias InboundIn = ByteBuffer
    typealias OutboundIn = ByteBuffer
    typealias OutboundOut = ByteBuffer

    private enum Phase {
        case reading
        /// The client will send no more; complete lines may still wait to begin.
        case inputEnded
        /// No further request begins. `lingers`: the client may still be sending.
        case finishing(lingers: Bool)
        case closed
    }

    private let connection: RPCConnection
    private let dispatcher: Dispatcher
    /// The executor of the connection's event loop. Without one, all requests run on Swift's global executor.
    private let executor: LoopExecutor?
    private var framer: LineFramer
    private var gate: RequestGate
    private var running: [UInt64: (task: Task<Void, Never>, share: RequestGate.Share)] = [:]
    private var nextToken: UInt64 = 0
    private var phase = Phase.reading
    private var isReadHeld = false
    private var isDraining = false
    private var isWriteUnderWay = false
    /// The number of bytes of a part of a message that a handler before this one keeps; nil if it keeps none.
    private var partBefore: Int?
    /// Counts what has been received and has not begun.
    private var received: MessageBytes
    /// Runs while a message is incomplete.
    private let timer: RequestTimer

    init(connection: RPCConnection, dispatcher: Dispatcher, executor: LoopExecutor? = nil) {
        self.connection = connection
        self.dispatcher = dispatcher
        self.executor = executor
        let limits = dispatcher.limits
        framer = LineFramer(limit: limits.messageBytes)
        timer = RequestTimer(limits.requestTime)
        // A stranger's requests, which may have their tokens within, are carried out one after the other.
        let requestLimit = connection.remote?.tokenID == 0 ? 1 : limits.requestsInFlight
        received = MessageBytes(of: connection)
        // Few connections of a user who is not privileged send no more than its messages may have.
        let byteLimit =
            dispatcher.service.isPrivileged(connection) ? limits.messageBytes : max(1, limits.messageBytes / 2)
        gate = RequestGate(requestLimit: requestLimit, byteLimit: byteLimit)
    }

    func handlerAdded(context: ChannelHandlerContext) {
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        let loop = context.eventLoop
        connection.useLineProtocol { loop.execute { bound.value.handler.drain(context: bound.value.context) } }
    }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        switch phase {
        case .reading:
            framer.append(Self.unwrapInboundIn(data))
            beginRequests()
            watch(context: context)
        case .inputEnded, .finishing, .closed:
            break
        }
    }

    func channelReadComplete(context: ChannelHandlerContext) {
        // The drain waits for the next turn of the loop, because NIO handles the end of the input after this call. If
        // the client has disconnected, a write in this call would fail and close the channel before NIO does that.
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        context.eventLoop.execute { bound.value.handler.drain(context: bound.value.context) }
        context.fireChannelReadComplete()
    }

    func read(context: ChannelHandlerContext) {
        if wantsInput { context.read() } else { isReadHeld = true }
    }

    func userInboundEventTriggered(context: ChannelHandlerContext, event: Any) {
        switch (event, phase) {
        case (ChannelEvent.inputClosed, .reading): phase = .inputEnded
        case (is FinishEvent, .reading), (is FinishEvent, .inputEnded):
            phase = .finishing(lingers: false)
        default: break
        }
        if let event = event as? InputCut {
            partBefore = event.count
            return watch(context: context)
        }
        drain(context: context)
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        // Only socket errors arrive here, most often because the client disconnected. No answer can be sent any more.
        context.close(promise: nil)
    }

    func channelInactive(context: ChannelHandlerContext) {
        phase = .closed
        timer.stop()
        received.set(0)
        // `didClose` comes before the cancellation: a cancelled bulk request passes its turn to the next request of the
        // queue. That request must find the connection closed, so that it does not begin.
        connection.didClose()
        for (task, _) in running.values { task.cancel() }
        running = [:]
        context.fireChannelInactive()
    }
}

// MARK: - Requests

extension LineHandler {
    private var isClosed: Bool { if case .closed = phase { true } else { false } }

    private var mayBegin: Bool { gate.isOpen && connection.takesRequests }

    /// True if input is read to begin requests with it.
    private var takesInput: Bool {
        if case .reading = phase { mayBegin } else { false }
    }

    /// True if input is read. What a client sends after its message was refused is dropped: while calls of the
    /// connection wait for events, the client would wait, too, until it has sent the rest.
    private var wantsInput: Bool {
        if case .finishing(lingers: true) = phase { true } else { takesInput }
    }

    /// Begins the complete lines, as far as the limits allow.
    private func beginRequests() {
        while mayBegin {
            switch phase {
            case .reading, .inputEnded: break
            case .finishing, .closed: return
            }
            switch framer.next() {
            case .line(let line)?:
                timer.stop()
                // From here on the message counts as begun.
                received.set(framer.count)
                if let error = refusal(ofMessage: line.count) { return stop(error) }
                begin(line)
            case .tooLong?:
                let limit = dispatcher.limits.messageBytes
                let error = RPCError.beyondLimit(
                    "the message is longer than \(limit) bytes", reason: "message_too_large", limit: limit)
                return stop(error)
            case nil:
                guard case .inputEnded = phase else { return }
                begin(framer.rest(), isCutOff: true)
                phase = .finishing(lingers: false)
            }
        }
    }

    /// Starts the timer if an incomplete message has arrived. While the handler does not read, the timer stops, because
    /// the client cannot complete it.
    private func watch(context: ChannelHandlerContext) {
        guard !isClosed else { return }
        received.set(framer.count + (partBefore ?? 0))
        if let error = received.refusal, takesInput, !dispatcher.service.isPrivileged(connection) {
            return refuse(error, context: context)
        }
        guard partBefore != nil || !framer.isEmpty, takesInput else { return timer.stop() }
        let bound = NIOLoopBound((handler: self, context: context), eventLoop: context.eventLoop)
        timer.start(on: context.eventLoop) { bound.value.handler.giveUp(context: bound.value.context) }
    }

    private func giveUp(context: ChannelHandlerContext) {
        guard takesInput else { return }
        let seconds = Int(clamping: dispatcher.limits.requestTime.components.seconds)
        let error = RPCError.beyondLimit(
            "a message was not complete within \(seconds) seconds", reason: "request_timeout", limit: seconds)
        refuse(error, context: context)
    }

    /// Answers a message that is not received further, and closes the connection.
    private func refuse(_ error: RPCError, context: ChannelHandlerContext) {
        stop(error)
        drain(context: context)
    }

    /// Answers a message, and begins no further one: the connection closes after the answers that are due.
    private func stop(_ error: RPCError) {
        connection.finish(request: nil, answer: RPCAnswer.error(error, id: .null))
        phase = .finishing(lingers: true)
        framer = LineFramer(limit: dispatcher.limits.messageBytes)
    }

    /// The reason why a whole message is not begun: its user has too many bytes of messages; nil if it is.
    private func refusal(ofMessage count: Int) -> RPCError? {
        let input = connection.bytes.input
        guard count > Dispatcher.shortMessage, !input.hasRoom(for: count) else { return nil }
        return dispatcher.service.isPrivileged(connection) ? nil : input.refusal
    }

    private func begin(_ line: [UInt8], isCutOff: Bool = false) {
        // Skips a line of white space only: people and programs send such lines to keep a connection alive.
        guard let first = line.first(where: { $0 != 0x20 && $0 != 0x09 && $0 != 0x0D }) else { return }
        let share = gate.enter(bytes: line.count, isBatch: first == UInt8(ascii: "["))
        nextToken += 1
        let token = nextToken
        let short = dispatcher.parseShort(line, on: connection)
        let isBrief = short.map(dispatcher.isBrief) ?? false
        let count = line.count
        connection.beginMessage(bytes: count)
        let task = Task(executorPreference: isBrief ? executor : nil) { [connection, dispatcher] in
            let afterAnswer = AfterAnswer()
            let reply = await AfterAnswer.$current.withValue(afterAnswer) {
                if let short {
                    await dispatcher.reply(to: short, width: share.width, isCutOff: isCutOff, on: connection)
                } else {
                    await dispatcher.reply(toText: line, width: share.width, isCutOff: isCutOff, on: connection)
                }
            }
            connection.endMessage(bytes: count)
            connection.finish(request: token, answer: reply.text)
            afterAnswer.run()
        }
        running[token] = (task, share)
    }
}

// MARK: - Answers

extension LineHandler {
    /// Writes the outbox, begins requests that may begin now, and closes when all is done.
    private func drain(context: ChannelHandlerContext) {
        // A write that completes at once calls `drain` again from within the loop below. The inner call returns, and
        // the loop continues.
        guard !isDraining, !isClosed else { return }
        isDraining = true
        repeat {
            let burst = connection.drain()
            for token in burst.finished {
                if let (_, share) = running.removeValue(forKey: token) { gate.leave(share) }
            }
            if let bytes = burst.bytes { write(bytes, context: context) }
            beginRequests()
        } while !isWriteUnderWay && !connection.isDrained
        isDraining = false
        watch(context: context)
        resumeReading(context: context)
        closeWhenDone(context: context)
    }

    private func write(_ bytes: ByteBuffer, context: ChannelHandlerContext) {
        isWriteUnderWay = true
        // If a write fails, NIO closes the connection, and `RPCConnection.didClose` resumes the callers of
        // `whenWritable`.
        context.writeAndFlush(Self.wrapOutboundOut(bytes)).assumeIsolated().whenSuccess {
            self.isWriteUnderWay = false
            self.connection.writeEnded()
            self.drain(context: context)
        }
    }

    private func resumeReading(context: ChannelHandlerContext) {
        guard isReadHeld, wantsInput else { return }
        isReadHeld = false
        context.read()
    }

    private func closeWhenDone(context: ChannelHandlerContext) {
        guard case .finishing(let lingers) = phase, running.isEmpty, connection.isDrained else { return }
        phase = .closed
        if lingers {
            LingeringCloseHandler.close(context.channel, within: dispatcher.limits.lingering)
        } else {
            context.close(promise: nil)
        }
    }
}

/// Notifies a `LineHandler` that a handler before it keeps a part of a message, or no longer does.
public struct InputCut: Sendable {
    /// The number of bytes that are kept; nil if none is.
    public let count: Int?

    public init(_ count: Int?) { self.count = count }
}

/// Decides whether a connection may begin another request. It limits the number of requests, and their total size to
/// `byteLimit`.
struct RequestGate {
    private let requestLimit: Int
    private let byteLimit: Int
    private(set) var requests = 0
    private var bytes = 0

    init(requestLimit: Int, byteLimit: Int) {
        self.requestLimit = requestLimit
        self.byteLimit = byteLimit
    }

    var isOpen: Bool { requests < requestLimit && bytes < byteLimit }

    /// The part of the limits that a message uses until it is answered.
    struct Share: Hashable {
        let width: Int
        let bytes: Int
    }

    /// Counts a message that begins. A batch takes all free places, and runs as many of its requests at the same time.
    mutating func enter(bytes: Int, isBatch: Bool) -> Share {
        let share = Share(width: isBatch ? max(1, requestLimit - requests) : 1, bytes: bytes)
        requests += share.width
        self.bytes += bytes
        return share
    }

    mutating func leave(_ share: Share) {
        requests -= share.width
        bytes -= share.bytes
    }
}
