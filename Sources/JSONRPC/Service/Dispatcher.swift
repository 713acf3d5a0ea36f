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
    /// Parsing a longer message there would delay other clients.
    static let shortMessage = 4096
    /// The number of bytes above which the messages of an unprivileged user take turns.
    static let longMessage = 64 << 10

    /// Parses a message that may be parsed on the event loop; nil if it may not.
    func parseShort(_ text: [UInt8], on connection: RPCConnection) -> RPCMessage? {
        guard text.count <= Self.shortMessage, service.isPrivileged(connection) else { return nil }
        return RPCMessage(parsing: text, limits: limits)
    }

    /// Parses and answers a message. Up to `width` requests of a batch run at the same time.
    ///
    /// - Parameter isCutOff: true if the connection ended before the message did. Such a message gets no answer if it
    ///   cannot be parsed.
    func reply(
        toText text: [UInt8], width: Int, isCutOff: Bool = false, on connection: RPCConnection
    ) async -> Reply {
        guard text.count > Self.longMessage, !service.isPrivileged(connection) else {
            return await reply(to: parse(text, on: connection), width: width, isCutOff: isCutOff, on: connection)
        }
        _ = await turns.long.enter(for: connection)
        let message = await parse(text, on: connection)
        // What such a call names is bounded, and it may wait for other long messages of its user.
        let givesBackFirst = isWaiting(message)
        if givesBackFirst { turns.long.giveBack(for: connection) }
        defer { if !givesBackFirst { turns.long.giveBack(for: connection) } }
        return await reply(to: message, width: width, isCutOff: isCutOff, on: connection)
    }

    private func isWaiting(_ message: RPCMessage) -> Bool {
        switch message {
        case .call(.request(_, let method, _)): service.isWaiting(method)
        case .call, .batch, .refused: false
        }
    }

    /// Parses a message, that of an unprivileged client when its turn comes: also if the client has disconnected,
    /// because notifications are carried out.
    private func parse(_ text: [UInt8], on connection: RPCConnection) async -> RPCMessage {
        guard !service.isPrivileged(connection) else { return RPCMessage(parsing: text, limits: limits) }
        await turns.parsing.enter(for: connection, isPrivileged: false)
        defer { turns.parsing.giveBack() }
        return RPCMessage(parsing: text, limits: limits)
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
            await inTurn(method, on: connection) {
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

    /// Runs `body` at once, or when its turn comes. Returns nil if the client of a request disconnects meanwhile.
    private func inTurn(
        _ method: String, isNotification: Bool = false, on connection: RPCConnection, _ body: () async -> [UInt8]?
    ) async -> [UInt8]? {
        let isPrivileged = service.isPrivileged(connection)
        guard service.isBulk(method) else {
            guard !isPrivileged, !service.isWaiting(method) else { return await body() }
            let hasWaited = await turns.ordinary.enter(for: connection)
            defer { turns.ordinary.giveBack(for: connection) }
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

extension RPCCall {
    /// The id of the answer; null if the call is a notification, which gets no answer.
    var id: JSONValue {
        switch self {
        case .request(let id, _, _), .invalid(let id, _): id
        case .notification: .null
        }
    }
}
