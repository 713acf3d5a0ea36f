/// A link that is made again when it breaks. Belongs to one thread.
final class PostgresSession {
    private let parameters: PostgresParameters
    private let timeout: Duration
    private var link: PostgresLink?
    private var backoff = ReconnectBackoff()
    private var isClosed = false

    init(_ parameters: PostgresParameters, _ settings: PostgresSettings) {
        self.parameters = parameters
        timeout = settings.statementTimeout
    }

    func close() {
        isClosed = true
        link = nil
    }

    func execute(_ sql: String, _ values: [String?]) throws(PostgresError) -> PostgresResult {
        try execute(sql, values, on: try connected())
    }

    func transaction<Value>(
        _ body: (PostgresTransaction) throws(PostgresError) -> Value
    ) throws(PostgresError) -> Value {
        let link = try connected()
        _ = try execute("BEGIN", [], on: link)
        do throws(PostgresError) {
            let value = try body(PostgresTransaction(session: self, link: link))
            let end = try execute("COMMIT", [], on: link)
            // So PostgreSQL answers if a statement before had failed.
            guard end.tag != "ROLLBACK" else { throw PostgresError(.server, "the transaction was rolled back") }
            return value
        } catch {
            // A link that is dropped ends the transaction, too.
            if self.link === link { _ = try? execute("ROLLBACK", [], on: link) }
            throw error
        }
    }

    // MARK: Notifications

    /// Subscribes this connection to a channel.
    ///
    /// - Returns: true if notifications will arrive. Behind a pooler another client may get the server's connection,
    ///   and the notification.
    func listen(_ channel: String) throws(PostgresError) -> Bool {
        let link = try connected()
        if let isListening = link.isListening { return isListening }
        let pid = try execute("SELECT pg_backend_pid()", [], on: link).first?.integer(0)
        let isDirect = pid == Int64(clamping: link.serverProcess)
        if isDirect { _ = try execute("LISTEN \(channel)", [], on: link) }
        link.isListening = isDirect
        return isDirect
    }

    /// True if a notification has arrived, or the connection has broken; removes all that have arrived. Nil without a
    /// connection.
    func hasNotification() -> Bool? { link.map { $0.isBroken || $0.takeNotifications() } }

    /// The descriptor that becomes readable when the server sends something.
    var socket: Int32? { link?.socket }

    /// Runs a statement on this link and on no other: within a transaction a new link would commit it alone.
    fileprivate func execute(_ sql: String, _ values: [String?], on link: PostgresLink)
        throws(PostgresError) -> PostgresResult
    {
        do throws(PostgresError) {
            return try link.execute(sql, values, until: .now + timeout)
        } catch {
            if error.kind == .broken || error.kind == .timedOut, self.link === link { self.link = nil }
            throw error
        }
    }

    /// Runs `body`, and again if PostgreSQL aborted it in favour of another transaction.
    func repeating<Value>(
        _ body: (PostgresSession) throws(PostgresError) -> Value
    ) throws(PostgresError) -> Value {
        var repetitions = 0
        while true {
            do throws(PostgresError) {
                return try body(self)
            } catch {
                guard error.isTransient, repetitions < Self.maxRepetitions else { throw error }
                repetitions += 1
            }
        }
    }

    private static let maxRepetitions = 5

    private func connected() throws(PostgresError) -> PostgresLink {
        guard !isClosed else { throw PostgresError(.closed, "the connection was closed") }
        if let link, !link.isBroken { return link }
        link = nil
        if let error = backoff.pending(at: .now) { throw error }
        do throws(PostgresError) {
            let made = try PostgresLink(parameters)
            backoff = ReconnectBackoff()
            link = made
            return made
        } catch {
            backoff.fail(error, at: .now)
            throw error
        }
    }
}

/// The statements of one transaction. Use it within its body only.
public struct PostgresTransaction {
    fileprivate let session: PostgresSession
    fileprivate let link: PostgresLink

    public func execute(_ sql: String, _ parameters: [String?] = []) throws(PostgresError) -> PostgresResult {
        try session.execute(sql, parameters, on: link)
    }
}
