import NIOCore
import StrictJSON

/// A connection on which many calls are under way. Releasing it closes it.
final class MessageChannel: Sendable {
    private let channel: any Channel
    private let calls: CallTable

    init(_ channel: any Channel, _ calls: CallTable) {
        self.channel = channel
        self.calls = calls
    }

    deinit { close() }

    /// Calls that are under way fail with `ConnectionError.closed`.
    func close() { channel.close(promise: nil) }

    /// True if it takes no further calls.
    var isRetired: Bool { calls.isRetired }
    /// True if closing it harms no call.
    var isIdle: Bool { calls.isIdle }
    var isFull: Bool { calls.isFull }
    /// The reason why it has ended; nil before that.
    var end: CallError? { calls.end }

    /// A place for a call, which `call` uses or `giveBack` frees; nil if there is none.
    func reserve() -> CallTable.Entry? { calls.insert() }

    func giveBack(_ entry: CallTable.Entry) { calls.remove(entry) }

    /// Sends a call and waits for its answer. Without a timeout it waits until the connection ends.
    ///
    /// If the Swift task is cancelled while it waits, the connection stays usable, and the daemon carries the call out.
    ///
    /// - Parameter isReading: true if the call changes nothing, so that its connection may be closed when it is
    ///   cancelled.
    /// - Throws: `CallError`, `CancellationError`.
    func call(
        _ method: String, _ params: JSONValue?, as entry: CallTable.Entry, isReading: Bool = true, timeout: Duration?
    ) async throws -> JSONValue {
        let text: [UInt8]
        do throws(ConnectionError) {
            text = try CallMessage.text(id: entry.id, method, params)
        } catch {
            giveBack(entry)
            throw CallError.connection(error)
        }
        let limit = timeout.map { timeout in
            channel.eventLoop.scheduleTask(in: TimeAmount(timeout)) { [calls] in
                calls.retire()
                entry.answer.complete(.failure(CallError.connection(.timedOut)))
            }
        }
        defer { limit?.cancel() }
        channel.writeAndFlush(ByteBuffer(bytes: text), promise: nil)
        do {
            return try await entry.answer.value
        } catch {
            if isReading, error is CancellationError { calls.abandon(entry) }
            throw error
        }
    }
}

/// Reads messages and passes them to the calls and the reader of notifications.
final class MessageHandler: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let calls: CallTable
    /// The buffer for notifications; nil drops them.
    private let notifications: NotificationBuffer?

    init(_ calls: CallTable, _ notifications: NotificationBuffer?) {
        self.calls = calls
        self.notifications = notifications
    }

    func handlerAdded(context: ChannelHandlerContext) { notifications?.attach(to: context.channel) }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        let bytes = Array(Self.unwrapInboundIn(data).readableBytesView)
        do throws(ConnectionError) {
            guard bytes.count <= XferConnection.messageLimit else {
                throw .messageTooLong(limit: XferConnection.messageLimit)
            }
            switch try ReceivedMessage(parsing: bytes[...]) {
            case .notification(let notification): notifications?.append(notification)
            case .answer(let id, let answer): calls.apply(id, answer)
            }
        } catch {
            end(error)
            context.close(promise: nil)
        }
    }

    func channelInactive(context: ChannelHandlerContext) {
        end(.closed)
        context.fireChannelInactive()
    }

    func errorCaught(context: ChannelHandlerContext, error: any Error) {
        switch error {
        case is ByteToMessageDecoderError.PayloadTooLargeError:
            end(.messageTooLong(limit: XferConnection.messageLimit))
        case let error as IOError: end(.transferring("recv", errno: error.errnoCode))
        default: end(.closed)
        }
        context.close(promise: nil)
    }

    private func end(_ error: ConnectionError) {
        calls.end(.connection(error))
        notifications?.end(error)
    }
}
