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

/// The address of a database, and the properties of connections to it.
public struct PostgresSettings: Hashable, Sendable {
    /// A connection string of libpq's, as a URI or as `keyword=value` pairs (PostgreSQL manual, 34.1.1), without a
    /// password.
    var connection: String
    /// A file that contains the password and nothing else but an end of line; nil leaves it to libpq (`passfile`).
    var passwordFile: String?
    /// The longest time for making a connection, in whole seconds.
    var connectTimeout: Int
    /// The longest time for which the server may execute one statement.
    var statementTimeout: Duration
    /// The number of callers that may wait for one connection.
    var maxWaiting: Int
    /// The `application_name` in the server's lists.
    var applicationName: String

    public init(
        connection: String, passwordFile: String? = nil, connectTimeout: Int = 10,
        statementTimeout: Duration = .seconds(30), maxWaiting: Int = 256, applicationName: String = "xfer-fleet"
    ) {
        self.connection = connection
        self.passwordFile = passwordFile
        self.connectTimeout = connectTimeout
        self.statementTimeout = statementTimeout
        self.maxWaiting = maxWaiting
        self.applicationName = applicationName
    }
}

/// The time of the next attempt to connect after failed ones: pauses from 0.1 s on, doubled up to 5 s.
struct ReconnectBackoff {
    private var failure: (error: PostgresError, until: ContinuousClock.Instant)?
    private var pause: Duration = .milliseconds(100)

    /// The last error, during the pause after it; nil afterwards.
    func pending(at now: ContinuousClock.Instant) -> PostgresError? {
        guard let failure, now < failure.until else { return nil }
        return failure.error
    }

    mutating func fail(_ error: PostgresError, at now: ContinuousClock.Instant) {
        failure = (error, now + pause)
        pause = min(pause * 2, .seconds(5))
    }
}
