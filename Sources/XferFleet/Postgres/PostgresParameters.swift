import CPostgres
import Glibc

/// Keywords and values for PQconnectdbParams.
struct PostgresParameters {
    private(set) var pairs: [(keyword: String, value: String)]

    /// Reads the connection string and adds this program's own parameters.
    ///
    /// Over TCP the server's certificate and name are verified unless the string disables it: libpq's own default,
    /// `prefer`, would send the password to any machine that answers.
    init(_ settings: PostgresSettings) throws(PostgresError) {
        var values = try Self.parsed(settings.connection)
        guard values["password"] == nil else {
            throw PostgresError(
                .settings, "the connection string has a password: put it into a file of its own, and set that file")
        }
        if let file = settings.passwordFile { values["password"] = try Self.password(in: file) }
        // A cancelled statement, or a time zone, of another program's settings must not reach this one.
        for keyword in ["options", "replication"] where values[keyword] != nil {
            throw PostgresError(.settings, "the connection string has \(keyword), which is not supported")
        }
        values["client_encoding"] = "UTF8"
        values["application_name"] = values["application_name"] ?? settings.applicationName
        values["connect_timeout"] = values["connect_timeout"] ?? String(max(2, settings.connectTimeout))
        // An idle connection shall not be forgotten by what lies in between. The kernel sends these.
        values["keepalives_idle"] = values["keepalives_idle"] ?? "60"
        if values["sslmode"] == nil, getenv("PGSSLMODE") == nil, Self.isRemote(values) {
            values["sslmode"] = "verify-full"
        }
        pairs = values.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }

    /// The parameters in the string itself, before libpq's defaults and environment.
    private static func parsed(_ text: String) throws(PostgresError) -> [String: String] {
        guard !text.utf8.contains(0) else { throw PostgresError(.settings, "the connection string has a NUL byte") }
        var failure: UnsafeMutablePointer<CChar>?
        guard let options = PQconninfoParse(text, &failure) else {
            let reason = failure.map { String(cString: $0) } ?? "out of memory"
            PQfreemem(failure)
            // libpq quotes what it cannot read, which may be a password: its own text is left out then.
            let shown = text.lowercased().contains("pass") || text.contains("@") ? "it cannot be read" : reason.trimmed
            throw PostgresError(.settings, "the connection string: \(shown)")
        }
        defer { PQconninfoFree(options) }
        var values: [String: String] = [:]
        var next = options
        while let keyword = next.pointee.keyword {
            if let value = next.pointee.val { values[String(cString: keyword)] = String(cString: value) }
            next += 1
        }
        return values
    }

    /// True if any host is reached over a network. Without a host libpq takes PGHOST, or else its own socket.
    private static func isRemote(_ values: [String: String]) -> Bool {
        if values["hostaddr"]?.isEmpty == false { return true }
        if values["service"] != nil { return true }
        let hosts = values["host"] ?? getenv("PGHOST").map { String(cString: $0) } ?? ""
        return hosts.split(separator: ",").contains { !$0.hasPrefix("/") && !$0.hasPrefix("@") }
    }

    /// The file's text without its last end of line.
    private static func password(in path: String) throws(PostgresError) -> String {
        func refusal(_ reason: String) -> PostgresError {
            PostgresError(.settings, "the password file \(path) \(reason)")
        }
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw refusal("cannot be opened: \(String(cString: strerror(errno)))") }
        defer { close(descriptor) }
        var facts = stat()
        guard fstat(descriptor, &facts) == 0, facts.st_mode & S_IFMT == S_IFREG else {
            throw refusal("is not a regular file")
        }
        guard facts.st_mode & 0o007 == 0 else { throw refusal("is open to all users: chmod o= \(path)") }
        var bytes = [UInt8](repeating: 0, count: passwordLimit + 2)
        let count = read(descriptor, &bytes, bytes.count)
        guard count >= 0 else { throw refusal("cannot be read: \(String(cString: strerror(errno)))") }
        var text = bytes[..<count]
        if text.last == UInt8(ascii: "\n") { text.removeLast() }
        if text.last == UInt8(ascii: "\r") { text.removeLast() }
        guard !text.isEmpty else { throw refusal("is empty") }
        guard text.count <= passwordLimit else { throw refusal("is longer than \(passwordLimit) bytes") }
        guard !text.contains(0), !text.contains(UInt8(ascii: "\n")),
            let password = String(validating: text, as: UTF8.self)
        else { throw refusal("has more than one line, or is not UTF-8") }
        return password
    }

    /// The longest password in bytes. PostgreSQL itself takes less than 1,024.
    private static let passwordLimit = 1000
}

extension String {
    /// The text without the end of line with which libpq ends its messages.
    var trimmed: String {
        var text = self[...]
        while let last = text.last, last.isWhitespace { text.removeLast() }
        return String(text)
    }
}
