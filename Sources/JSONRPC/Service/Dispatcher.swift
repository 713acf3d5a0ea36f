import StrictJSON

/// Parses a message, passes its requests to the service, and assembles the answer.
struct Dispatcher: Sendable {
    let service: any RPCService
    let limits: RPCLimits
    let turns: RequestTurns

    init(service: any RPCService, limits: RPCLimits, turns: RequestTurns) {
        self.service = service
        self.limits = limits
        self.turns = turns
    }

    /// The answer to one message.
    struct Reply: Hashable, Sendable {
        /// The answer, or nil when none is due: the message had only notifications, was cut off, or waited for a turn
        /// until the client disconnected.
        var text: [UInt8]?
        /// True if the message as a whole was refused, before any method was called.
        var isRefusal = false
    }

    /// The highest number of bytes of a message of a privileged client that is parsed on the connection's event loop.
    /// Parsing a longer message there would delay other clients. Of an unprivileged user's messages, longer ones are
    /// refused while too many bytes of them wait.
    static let shortMessage = 4096
    /// The number of bytes above which an unprivileged user's messages are carried out one at a time.
    static let longMessage = 64 << 10

    /// Parses a message that may be parsed on the event loop; nil if it may not.
    func parseShort(_ text: [UInt8], on connection: RPCConnection) -> RPCMessage? {
        guard text.count <= Self.shortMessage, service.isPrivileged(connection) else { return nil }
        return RPCMessage(parsing: text, limits: limits)
    }

    /// Parses and answers a message. Up to `width` requests of a batch run at the same time.
    ///
    /// A message of an unprivileged client is parsed when its turn comes: until then only its text is in memory.
    ///
    /// - Parameter isCutOff: true if the connection ended before the message did. Such a message gets no answer if it
    ///   cannot be parsed.
    func reply(
        toText text: [UInt8], width: Int, isCutOff: Bool = false, on connection: RPCConnection
    ) async -> Reply {
        guard !service.isPrivileged(connection) else {
            let message = RPCMessage(parsing: text, limits: limits)
            return await reply(to: message, width: width, isCutOff: isCutOff, on: connection)
        }
        let own = turns.messages(ofLength: text.count)
        switch await begin(text, in: own, on: connection) {
        case .abandoned:
            return Reply()
        case .bulk:
            return await replyInBulkTurn(toText: text, on: connection)
        case .waiting(let message):
            let waiting = connection.bytes.waiting
            guard waiting.claim(text.count) else { return Reply(refusing: message, with: waiting.refusal) }
            defer { waiting.add(-text.count) }
            return await reply(to: message, width: width, isCutOff: isCutOff, on: connection)
        case .ordinary(let message):
            defer { own.giveBack(for: connection) }
            return await reply(to: message, width: width, isCutOff: isCutOff, on: connection)
        }
    }

    /// An unprivileged client's message whose turn has come.
    private enum Begun {
        /// The message, which keeps its turn.
        case ordinary(RPCMessage)
        /// A message whose calls wait for events, perhaps for those of the user's other messages: it has no turn any more.
        case waiting(RPCMessage)
        /// A bulk request. It has no turn any more, and is parsed again in that of bulk requests.
        case bulk
        /// A request whose client has disconnected while it waited.
        case abandoned
    }

    /// Parses a message when its turn comes: also if the client has disconnected, because notifications are carried out.
    private func begin(_ text: [UInt8], in own: UserTurns, on connection: RPCConnection) async -> Begun {
        let hasWaited = await own.enter(for: connection)
        await turns.parsing.enter(for: connection, isPrivileged: false)
        let message = RPCMessage(parsing: text, limits: limits)
        turns.parsing.giveBack()
        let begun: Begun
        switch message {
        case .call(.request) where hasWaited && !connection.isOpen: begun = .abandoned
        case .call(.request(_, let method, _)) where service.isBulk(method): begun = .bulk
        case _ where isWaiting(message): begun = .waiting(message)
        default: return .ordinary(message)
        }
        own.giveBack(for: connection)
        return begun
    }

    private func isWaiting(_ message: RPCMessage) -> Bool {
        switch message {
        case .call(let call): isWaiting(call)
        case .batch(let calls): calls.contains { isWaiting($0) }
        case .refused: false
        }
    }

    private func isWaiting(_ call: RPCCall) -> Bool {
        switch call {
        case .request(_, let method, _): service.isWaiting(method)
        case .notification, .invalid: false
        }
    }

    private func replyInBulkTurn(toText text: [UInt8], on connection: RPCConnection) async -> Reply {
        guard await turns.bulk.acquire(for: connection, isPrivileged: false) else { return Reply() }
        defer { turns.bulk.giveBack() }
        guard case .call(.request(let id, let method, let params)) = RPCMessage(parsing: text, limits: limits) else {
            return Reply()
        }
        return Reply(text: await carryOut(method, params, id: id, on: connection))
    }

    /// True if the message is a single request that is fast enough to run on the event loop; see `RPCService.isBrief`.
    func isBrief(_ message: RPCMessage) -> Bool {
        switch message {
        case .call(.request(_, let method, _)): service.isBrief(method)
        case .call, .batch, .refused: false
        }
    }

    /// Answers `message`; see `reply(toText:width:isCutOff:on:)`.
    func reply(
        to message: RPCMessage, width: Int, isCutOff: Bool = false, on connection: RPCConnection
    ) async -> Reply {
        switch message {
        case .call(.invalid(let id, let error)):
            return Reply(text: RPCAnswer.error(error, id: id), isRefusal: true)
        case .call(let call):
            return Reply(text: await answer(to: call, on: connection))
        case .batch(let calls):
            return Reply(text: await answer(to: calls, width: width, on: connection))
        case .refused(let error):
            return isCutOff ? Reply() : Reply(text: RPCAnswer.error(error, id: .null), isRefusal: true)
        }
    }

    private func answer(to call: RPCCall, on connection: RPCConnection) async -> [UInt8]? {
        switch call {
        case .request(let id, let method, let params):
            await inTurn(method, on: connection) { await carryOut(method, params, id: id, on: connection) }
        case .notification(let method, let params):
            // A notification runs in a `Task` that is not cancelled with the connection: it has to be carried out even
            // if its client disconnects.
            await Task {
                await inTurn(method, isNotification: true, on: connection) {
                    _ = try? await service.respond(to: method, params: params, on: connection)
                    return nil
                }
            }.value
        case .invalid(let id, let error):
            RPCAnswer.error(error, id: id)
        }
    }

    /// Carries out a request whose turn has come, and returns its answer.
    private func carryOut(
        _ method: String, _ params: JSONValue?, id: JSONValue, on connection: RPCConnection
    ) async -> [UInt8] {
        // The check comes after the turn, because other answers may have gathered while the request waited.
        let output = connection.bytes.output
        if output.isBeyondLimit { return RPCAnswer.error(output.refusal, id: id) }
        do throws(RPCError) {
            let result = try await service.respond(to: method, params: params, on: connection)
            return RPCAnswer.result(result, id: id, limit: limits.messageBytes)
        } catch {
            return RPCAnswer.error(error, id: id, limit: limits.messageBytes)
        }
    }

    /// Runs `body` at once, or when its turn comes. Returns nil if the client of a request disconnects meanwhile.
    private func inTurn(
        _ method: String, isNotification: Bool = false, on connection: RPCConnection, _ body: () async -> [UInt8]?
    ) async -> [UInt8]? {
        let isPrivileged = service.isPrivileged(connection)
        guard service.isBulk(method) else {
            guard !isPrivileged, !service.isWaiting(method) else { return await body() }
            let own = service.hasLongAnswer(method) ? turns.longAnswers : turns.ordinary
            let hasWaited = await own.enter(for: connection)
            defer { own.giveBack(for: connection) }
            return !hasWaited || isNotification || connection.isOpen ? await body() : nil
        }
        guard await turns.bulk.acquire(for: connection, isPrivileged: isPrivileged) else { return nil }
        defer { turns.bulk.giveBack() }
        return await body()
    }

    private func answer(to calls: [RPCCall], width: Int, on connection: RPCConnection) async -> [UInt8]? {
        var gathered = BatchAnswer(count: calls.count, limit: limits.messageBytes)
        let takesTurns = !service.isPrivileged(connection)
        // The answers that are kept until the last one count as waiting: a user may have many batches at a time.
        var kept = 0
        defer { connection.bytes.output.add(-kept) }
        await withTaskGroup(of: (index: Int, answer: [UInt8]?).self) { group in
            var begun = 0
            func begin() {
                guard begun < calls.count else { return }
                let index = begun
                begun += 1
                group.addTask {
                    if takesTurns {
                        await turns.parsing.enter(for: connection, isPrivileged: false)
                        turns.parsing.giveBack()
                    }
                    return (index, await answer(to: calls[index], on: connection))
                }
            }
            for _ in 0..<max(1, width) { begin() }
            for await (index, answer) in group {
                gathered.set(answer, at: index, id: calls[index].id)
                if takesTurns, let count = answer?.count {
                    kept += count
                    connection.bytes.output.add(count)
                }
                begin()
            }
        }
        return gathered.text()
    }
}

extension Dispatcher.Reply {
    /// The answer to a message that is refused as a whole.
    fileprivate init(refusing message: RPCMessage, with error: RPCError) {
        let id: JSONValue = if case .call(let call) = message { call.id } else { .null }
        self.init(text: RPCAnswer.error(error, id: id), isRefusal: true)
    }
}

extension RPCCall {
    /// The id of the answer; null if the call is a notification, which gets no answer.
    var id: JSONValue {
        switch self {
        case .request(let id, _, _), .invalid(let id, _): id
        case .notification: .null
        }
    }
}
