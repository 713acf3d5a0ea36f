/// How to reach a database.
public struct PostgresSettings: Hashable, Sendable {
    /// A connection string of libpq's, as a URI or as `keyword=value` pairs (PostgreSQL manual, 34.1.1), without a
    /// password.
    public var connection: String
    /// A file that holds the password and nothing else but an end of line; nil leaves it to libpq (`passfile`).
    public var passwordFile: String?
    /// How long making a connection may take, in whole seconds.
    public var connectTimeout: Int
    /// How long the server may take for one statement.
    public var statementTimeout: Duration
    /// Callers that may wait for one connection.
    public var maxWaiting: Int
    /// What the server's lists show as `application_name`.
    public var applicationName: String

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
