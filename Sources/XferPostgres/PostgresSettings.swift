/// The address of a database, and the properties of connections to it.
public struct PostgresSettings: Hashable, Sendable {
    /// A connection string of libpq's, as a URI or as `keyword=value` pairs (PostgreSQL manual, 34.1.1), without a
    /// password.
    public var connection: String
    /// A file that contains the password and nothing else but an end of line; nil leaves it to libpq (`passfile`).
    public var passwordFile: String?
    /// The longest time for making a connection, in whole seconds.
    public var connectTimeout: Int
    /// The longest time for which the server may execute one statement.
    public var statementTimeout: Duration
    /// The number of callers that may wait for one connection.
    public var maxWaiting: Int
    /// The `application_name` in the server's lists.
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
