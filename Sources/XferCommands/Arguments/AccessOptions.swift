import ArgumentParser
import XferModel
import XferProtocol

/// Credentials, a client certificate and a proxy. `add`, `update` and `profile set` have these.
///
/// Secrets are never arguments, which every user of the machine can read. They are prompted for, read from files here,
/// or given as places that the daemon reads.
struct AccessOptions: ParsableArguments {
    @Option(
        name: [.customShort("u"), .customLong("login")],
        help: ArgumentHelp(
            "Log in as this user; prompts for the password. With --aws-sigv4: the access key's id.", valueName: "name"))
    var login: String?

    @Option(
        help: ArgumentHelp(
            "Read the password for -u from this file's first line; - is standard input.", valueName: "file"),
        completion: .file())
    var passwordFile: String?

    @Option(
        help: ArgumentHelp(
            "Have the daemon read the password for -u at every attempt: file:PATH, systemd:NAME or env:NAME.",
            valueName: "place"), transform: SecretPlace.argument)
    var passwordFrom: SecretPlace?

    @Flag(help: "Log in with digest authentication rather than basic.")
    var digest = false

    @Option(
        name: .customLong("aws-sigv4"),
        help: ArgumentHelp(
            "Sign the request for AWS or a compatible service: aws:amz:REGION[:SERVICE] (default service: s3).",
            valueName: "scope"), transform: SignatureScope.argument)
    var signature: SignatureScope?

    @Option(
        help: ArgumentHelp("Send the token in this file's first line; - is standard input.", valueName: "file"),
        completion: .file())
    var bearerFile: String?

    @Option(
        help: ArgumentHelp(
            "Have the daemon read a token at every attempt: file:PATH, systemd:NAME or env:NAME.", valueName: "place"),
        transform: SecretPlace.argument)
    var bearerFrom: SecretPlace?

    @Flag(
        help: """
            Log in with the host's entry in ~/.netrc, or with another host's if a redirect leads there over https; the \
            daemon reads it at every attempt.
            """)
    var netrc = false

    @Option(help: ArgumentHelp("Read the login from this netrc file.", valueName: "file"), completion: .file())
    var netrcFile: String?

    @Option(
        name: .customLong("login-origin"),
        help: ArgumentHelp(
            "Send the login or token to this origin only, such as https://api.example.org; repeat for several. "
                + "Default: the origin of the URL, or of a profile's base URL.",
            valueName: "origin"), transform: OriginArgument.argument)
    var loginOrigins: [OriginArgument] = []

    @Option(
        help: ArgumentHelp("A client certificate, a PEM file the daemon reads.", valueName: "file"),
        completion: .file())
    var cert: String?

    @Option(help: ArgumentHelp("The client certificate's key.", valueName: "file"), completion: .file())
    var key: String?

    @Option(
        help: ArgumentHelp(
            "Go through this proxy: http://, https://, socks5:// or socks5h:// with host and port.", valueName: "url"))
    var proxy: String?

    @Option(
        name: .customLong("no-proxy"),
        help: ArgumentHelp(
            "Reach these hosts directly: names, addresses, blocks, with commas between; * is all.", valueName: "hosts"))
    var directHosts: String?

    @Option(
        help: ArgumentHelp("Log in at the proxy as this user; prompts for the password.", valueName: "name"))
    var proxyUser: String?

    @Option(
        help: ArgumentHelp(
            "Read the password for --proxy-user from this file's first line; - is standard input.", valueName: "file"),
        completion: .file())
    var proxyPasswordFile: String?

    @Flag(help: "Log in at the proxy with digest authentication rather than basic.")
    var proxyDigest = false

    @Flag(help: "Log in at the proxy with the Kerberos ticket of the daemon's user (Negotiate).")
    var proxyNegotiate = false

    mutating func validate() throws {
        let logins = [
            ("-u", login != nil), ("--bearer-file", bearerFile != nil), ("--bearer-from", bearerFrom != nil),
            ("--netrc", netrc), ("--netrc-file", netrcFile != nil),
        ].filter(\.1).map(\.0)
        if logins.count > 1 { throw ValidationError("\(logins[0]) and \(logins[1]) exclude each other.") }
        for (option, isSet) in [
            ("--password-file", passwordFile != nil), ("--password-from", passwordFrom != nil), ("--digest", digest),
            ("--aws-sigv4", signature != nil),
        ] where isSet && login == nil {
            throw ValidationError("\(option) needs -u USER.")
        }
        if !loginOrigins.isEmpty, logins.isEmpty {
            throw ValidationError("--login-origin needs -u, --bearer-file, --bearer-from, --netrc or --netrc-file.")
        }
        if passwordFile != nil, passwordFrom != nil {
            throw ValidationError("--password-file and --password-from exclude each other.")
        }
        if digest, signature != nil { throw ValidationError("--digest and --aws-sigv4 exclude each other.") }
        for (option, user, file) in [
            ("-u", login, "--password-file"), ("--proxy-user", proxyUser, "--proxy-password-file"),
        ] where user?.contains(":") == true {
            throw ValidationError(
                "\(option) expects the user's name only: a password on the command line can be read by every user of this "
                    + "machine. Leave it out to get a prompt, or use \(file).")
        }
        if proxy?.contains("@") == true {
            throw ValidationError(
                "--proxy takes no login in its URL: use --proxy-user NAME, which prompts for the password, or "
                    + "--proxy-password-file FILE beside it.")
        }
        if (cert == nil) != (key == nil) { throw ValidationError("--cert and --key need each other.") }
        if proxyPasswordFile != nil, proxyUser == nil {
            throw ValidationError("--proxy-password-file needs --proxy-user USER.")
        }
        if proxyDigest, proxyUser == nil { throw ValidationError("--proxy-digest needs --proxy-user USER.") }
        if passwordFile == "-", proxyPasswordFile == "-" {
            throw ValidationError("--password-file and --proxy-password-file cannot both read standard input.")
        }
        if proxyUser != nil, proxy == nil { throw ValidationError("--proxy-user needs --proxy URL.") }
        if proxyNegotiate, proxy == nil { throw ValidationError("--proxy-negotiate needs --proxy URL.") }
        if proxyNegotiate, proxyUser != nil {
            throw ValidationError("--proxy-negotiate and --proxy-user exclude each other.")
        }
        if directHosts != nil, directHosts != "*", proxy == nil {
            throw ValidationError("--no-proxy needs --proxy URL, or * for no proxy at all.")
        }
    }
}

/// An origin in the form `scheme://host[:port]`.
struct OriginArgument: Hashable, Sendable, ExplainedArgument {
    static var expected: String { "SCHEME://HOST or SCHEME://HOST:PORT, such as https://api.example.org" }

    let origin: Origin

    init?(argument: String) {
        guard let origin = Origin(argument) else { return nil }
        self.origin = origin
    }
}

/// The place from which the daemon reads a secret: `file:PATH`, `systemd:NAME`, `env:NAME`.
struct SecretPlace: Hashable, Sendable, ExplainedArgument {
    static var expected: String { "file:PATH, systemd:NAME or env:NAME" }

    enum Kind: String { case file, systemd, env }

    let kind: Kind
    let name: String

    init?(argument: String) {
        guard let colon = argument.firstIndex(of: ":"), let kind = Kind(rawValue: String(argument[..<colon])) else {
            return nil
        }
        self.kind = kind
        name = String(argument[argument.index(after: colon)...])
        if name.isEmpty { return nil }
    }

    func secret(_ paths: PathResolver) -> SecretText {
        var reference = SecretReference()
        switch kind {
        case .file: reference.file = paths.absolute(name)
        case .systemd: reference.systemd = name
        case .env: reference.env = name
        }
        return .reference(reference)
    }
}

/// `aws:amz:REGION[:SERVICE]`, as curl's `--aws-sigv4` takes it.
struct SignatureScope: Hashable, Sendable, ExplainedArgument {
    static var expected: String { "aws:amz:REGION or aws:amz:REGION:SERVICE" }

    let region: String
    let service: String?

    init?(argument: String) {
        let parts = argument.split(separator: ":", omittingEmptySubsequences: false).map { String($0) }
        guard (3...4).contains(parts.count), parts[0] == "aws", parts[1] == "amz", !parts[2].isEmpty else { return nil }
        region = parts[2]
        service = parts.count == 4 ? parts[3] : nil
    }
}
