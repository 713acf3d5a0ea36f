/// An error of PostgreSQL or of the way to it. No text of it has the password.
public struct PostgresError: Error, Hashable, Sendable, CustomStringConvertible {
    enum Kind: String, Hashable, Sendable {
        /// The settings contradict themselves or have something that must not be there.
        case settings
        /// No connection could be made.
        case unreachable
        /// The server refused the user or the password (SQLSTATE class 28).
        case rejected
        /// No answer within the statement's time limit.
        case timedOut
        /// The connection broke while a statement was under way.
        case broken
        /// The server answered with an error.
        case server
        /// Too many callers wait for the connection.
        case overloaded
        /// The connection was closed by its owner.
        case closed
        /// A value that the protocol cannot carry, or a result of another form than expected.
        case form
    }

    let kind: Kind
    /// The code of five characters (PostgreSQL manual, appendix A); nil if the server sent none.
    let sqlState: String?
    /// `ERROR`, `FATAL` or `PANIC`, not translated; nil if the server sent none.
    let severity: String?
    let message: String
    /// True if the statement or the commit may have taken effect all the same.
    let isOutcomeUnknown: Bool

    init(
        _ kind: Kind, _ message: String, sqlState: String? = nil, severity: String? = nil,
        isOutcomeUnknown: Bool = false
    ) {
        self.kind = kind
        self.message = message
        self.sqlState = sqlState
        self.severity = severity
        self.isOutcomeUnknown = isOutcomeUnknown
    }

    /// True if the same transaction may succeed if it is made again: serialization_failure, deadlock_detected.
    var isTransient: Bool { sqlState == "40001" || sqlState == "40P01" }

    public var description: String {
        let state = sqlState.map { " (SQLSTATE \($0))" } ?? ""
        let unknown = isOutcomeUnknown ? "; whether it took effect is unknown" : ""
        return "PostgreSQL: \(message)\(state)\(unknown)"
    }
}
