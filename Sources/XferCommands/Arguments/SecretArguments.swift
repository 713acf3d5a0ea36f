import XferModel

/// Secrets among a command's arguments, which every user of the machine can read while it runs (proc_pid_cmdline(5)).
struct SecretArguments {
    /// The options that contain a secret, each with its alternative.
    let found: [String]

    init(urls: [String] = [], headers: [HeaderArgument] = [], session: SessionOptions? = nil) {
        var found: [String] = []
        for case .field(let field) in headers where Redaction.isSecretHeader(field.name) && !field.value.isEmpty {
            found.append("-H '\(SafeText.sanitised(field.name)): …' (use -H @FILE)")
        }
        if session?.cookieField != nil { found.append("-b NAME=VALUE (use -b FILE)") }
        if urls.contains(where: Self.hasPassword) { found.append("the password in the URL (use -u NAME)") }
        self.found = found
    }

    /// True if the user info before the host has a colon that is not its last character (RFC 3986 §3.2.1).
    private static func hasPassword(_ url: String) -> Bool {
        guard let scheme = url.firstRange(of: "://") else { return false }
        let authority = url[scheme.upperBound...].prefix { !"/?#".contains($0) }
        guard let end = authority.lastIndex(of: "@"), let colon = authority[..<end].firstIndex(of: ":") else {
            return false
        }
        return authority.index(after: colon) < end
    }

    /// Prints the warning to standard error.
    func warn() {
        for place in found {
            Output.error.line("xferctl: warning: other users of this machine can read \(place)")
        }
    }
}
