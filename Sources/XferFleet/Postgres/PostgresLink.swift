import CPostgres
import Glibc

/// One connection to a server and the blocking calls on it. Belongs to one thread.
///
/// Statements have no names and leave no session state, so that PgBouncer in transaction mode can be used.
final class PostgresLink {
    private let handle: OpaquePointer

    /// Connects.
    init(_ parameters: PostgresParameters) throws(PostgresError) {
        let keywords = CStrings(parameters.pairs.map(\.keyword))
        let values = CStrings(parameters.pairs.map(\.value))
        guard let handle = PQconnectdbParams(keywords.pointers, values.pointers, 0) else {
            throw PostgresError(.unreachable, "out of memory")
        }
        guard PQstatus(handle) == CONNECTION_OK else {
            let message = String(cString: PQerrorMessage(handle)).trimmed
            // libpq keeps no SQLSTATE of a failed connection: these are the server's words for class 28.
            let isRejected =
                PQconnectionNeedsPassword(handle) == 1
                || PQconnectionUsedPassword(handle) == 1 && message.contains("FATAL")
                || message.contains("pg_hba.conf") || message.contains("role \"")
            PQfinish(handle)
            throw PostgresError(isRejected ? .rejected : .unreachable, message)
        }
        // The default receiver writes to standard error.
        PQsetNoticeReceiver(handle, ignoreNotice, nil)
        guard PQsetnonblocking(handle, 1) == 0 else {
            PQfinish(handle)
            throw PostgresError(.unreachable, "the connection cannot be made non-blocking")
        }
        self.handle = handle
    }

    deinit { PQfinish(handle) }

    /// True if the server notifies this connection; nil if that was not requested.
    var isListening: Bool?

    /// The server's process id, sent when it accepted the connection; a pooler invents one.
    var serverProcess: Int32 { PQbackendPID(handle) }

    var socket: Int32 { PQsocket(handle) }

    /// True if the connection can no longer be used. On an idle connection a server sends notifications and changed
    /// settings, and before it ends (a restart, a pooler's timeout) an error.
    var isBroken: Bool {
        var descriptor = pollfd(fd: PQsocket(handle), events: Int16(POLLIN), revents: 0)
        while PQstatus(handle) == CONNECTION_OK {
            guard poll(&descriptor, 1, 0) > 0 else { return false }
            guard PQconsumeInput(handle) == 1 else { return true }
        }
        return true
    }

    /// True if notifications have arrived; they are discarded.
    func takeNotifications() -> Bool {
        var hasAny = false
        while let notification = PQnotifies(handle) {
            PQfreemem(notification)
            hasAny = true
        }
        return hasAny
    }

    /// Runs one statement and waits for its answer.
    ///
    /// - Parameter deadline: by CLOCK_MONOTONIC. After it the link is useless and has to be dropped.
    func execute(_ sql: String, _ parameters: [String?], until deadline: ContinuousClock.Instant)
        throws(PostgresError) -> PostgresResult
    {
        guard parameters.allSatisfy({ $0?.utf8.contains(0) != true }), !sql.utf8.contains(0) else {
            throw PostgresError(.form, "a text has a NUL byte, which PostgreSQL cannot store")
        }
        let values = CStrings(parameters)
        guard
            PQsendQueryParams(handle, sql, Int32(clamping: parameters.count), nil, values.pointers, nil, nil, 0) == 1
        else { throw failure(.broken, isOutcomeUnknown: false) }
        try flush(until: deadline)
        var answer: Result<PostgresResult, PostgresError>?
        while true {
            try awaitAnswer(until: deadline)
            guard let result = PQgetResult(handle) else { break }
            defer { PQclear(result) }
            // The last one counts: a server that goes away adds a second.
            answer = Self.read(result, isConnected: PQstatus(handle) == CONNECTION_OK)
        }
        guard let answer else { throw failure(.broken, isOutcomeUnknown: true) }
        return try answer.get()
    }

    private func flush(until deadline: ContinuousClock.Instant) throws(PostgresError) {
        while true {
            switch PQflush(handle) {
            case 0: return
            case 1:
                // The server may send before it reads on.
                try awaitEvents(POLLIN | POLLOUT, until: deadline)
                if PQconsumeInput(handle) == 0 { throw failure(.broken, isOutcomeUnknown: true) }
            default: throw failure(.broken, isOutcomeUnknown: true)
            }
        }
    }

    private func awaitAnswer(until deadline: ContinuousClock.Instant) throws(PostgresError) {
        while PQisBusy(handle) == 1 {
            try awaitEvents(POLLIN, until: deadline)
            if PQconsumeInput(handle) == 0 { throw failure(.broken, isOutcomeUnknown: true) }
        }
    }

    private func awaitEvents(_ events: Int32, until deadline: ContinuousClock.Instant) throws(PostgresError) {
        var descriptor = pollfd(fd: PQsocket(handle), events: Int16(truncatingIfNeeded: events), revents: 0)
        while true {
            let left = ContinuousClock.now.duration(to: deadline)
            let milliseconds = left.components.seconds.multipliedReportingOverflow(by: 1000).partialValue
            guard left > .zero else {
                throw PostgresError(.timedOut, "the server did not answer in time", isOutcomeUnknown: true)
            }
            let wait = Int32(clamping: milliseconds + left.components.attoseconds / 1_000_000_000_000_000 + 1)
            let ready = poll(&descriptor, 1, wait)
            if ready > 0 { return }
            if ready < 0, errno != EINTR { throw failure(.broken, isOutcomeUnknown: true) }
        }
    }

    private func failure(_ kind: PostgresError.Kind, isOutcomeUnknown: Bool) -> PostgresError {
        let message = String(cString: PQerrorMessage(handle)).trimmed
        return PostgresError(
            kind, message.isEmpty ? "the connection was lost" : message, isOutcomeUnknown: isOutcomeUnknown)
    }

    private static func read(_ result: OpaquePointer, isConnected: Bool) -> Result<PostgresResult, PostgresError> {
        switch PQresultStatus(result) {
        case PGRES_COMMAND_OK, PGRES_TUPLES_OK:
            return .success(
                PostgresResult(
                    columns: Int(clamping: PQnfields(result)), values: values(of: result),
                    affected: Int(String(cString: PQcmdTuples(result)), radix: 10) ?? 0,
                    tag: String(cString: PQcmdStatus(result))))
        default:
            func field(_ code: Int) -> String? {
                PQresultErrorField(result, Int32(clamping: code)).map { String(cString: $0) }
            }
            let state = field(sqlStateField)
            let message = field(messageField) ?? String(cString: PQresultErrorMessage(result)).trimmed
            // A session that ends may have committed before.
            let isFatal = !isConnected || state == nil
            return .failure(
                PostgresError(
                    isFatal ? .broken : .server, message, sqlState: state, severity: field(severityField),
                    isOutcomeUnknown: isFatal))
        }
    }

    private static func values(of result: OpaquePointer) -> [String?] {
        let (rows, columns) = (PQntuples(result), PQnfields(result))
        var values: [String?] = []
        values.reserveCapacity(Int(clamping: rows) * Int(clamping: columns))
        for row in 0..<rows {
            for column in 0..<columns {
                if PQgetisnull(result, row, column) == 1 {
                    values.append(nil)
                } else {
                    values.append(PQgetvalue(result, row, column).map { String(cString: $0) })
                }
            }
        }
        return values
    }

    // PG_DIAG_SQLSTATE, PG_DIAG_MESSAGE_PRIMARY and PG_DIAG_SEVERITY_NONLOCALIZED of postgres_ext.h are characters.
    private static let sqlStateField = 0x43
    private static let messageField = 0x4D
    private static let severityField = 0x56
}

/// Ignores a notice. At file scope so that it inherits no isolation.
private func ignoreNotice(_ context: UnsafeMutableRawPointer?, _ result: OpaquePointer?) {}

/// Texts as C sees them, with NULL at the end.
private final class CStrings {
    private let copies: [UnsafeMutablePointer<CChar>?]
    let pointers: [UnsafePointer<CChar>?]

    init(_ texts: [String?]) {
        copies = texts.map { $0.flatMap { strdup($0) } }
        pointers = copies.map { $0.map { UnsafePointer($0) } } + [nil]
    }

    deinit { for copy in copies { free(copy) } }
}
