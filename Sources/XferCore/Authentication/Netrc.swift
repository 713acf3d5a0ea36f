/// The logins in a netrc(5) file's text, by machine, with the rules of curl.
///
/// The keywords are `machine`, `default`, `login`, `password`, `account` (ignored) and `macdef` (skipped up to an empty
/// line), in any case. A token that begins with `"` ends at the next one of the same line. In it `\n`, `\r` and `\t`
/// are control characters, and `\` before another character is that character. A keyword that begins with `#` begins a
/// comment up to the line's end.
public struct Netrc: Sendable {
    public struct Login: Hashable, Sendable {
        public var user: String
        public var password: String

        public init(user: String, password: String) {
            self.user = user
            self.password = password
        }
    }

    private struct Entry {
        /// The machine, or nil for `default`.
        var machine: String?
        var user: String?
        var password: String?
    }

    private var entries: [Entry] = []

    /// Parses the text. Never fails: text that cannot be understood is ignored, and so is everything after a quotation
    /// mark that is not closed.
    public init(_ text: String) {
        var tokens = Tokens(text)
        while let word = tokens.next() {
            switch word.lowercased() {
            case "machine": entries.append(Entry(machine: tokens.value()?.lowercased() ?? ""))
            case "default": entries.append(Entry())
            case "login":
                if let user = tokens.value(), !entries.isEmpty { entries[entries.count - 1].user = user }
            case "password":
                if let password = tokens.value(), !entries.isEmpty { entries[entries.count - 1].password = password }
            case "account": _ = tokens.value()
            case "macdef": tokens.skipMacro()
            default: break
            }
        }
        // What it began is not complete.
        if tokens.isUnclosed { _ = entries.popLast() }
    }

    /// The login for a host, else that of a `default` entry.
    ///
    /// - Parameter user: the account to log in with; nil is the first one.
    public func login(for host: String, user: String? = nil) -> Login? {
        login(naming: host, user: user) ?? Self.login(in: entries.filter { $0.machine == nil }, user: user)
    }

    /// The login for a host that the file lists.
    ///
    /// - Parameter user: the account to log in with; nil is the first one.
    public func login(naming host: String, user: String? = nil) -> Login? {
        let host = host.lowercased()
        return Self.login(in: entries.filter { $0.machine == host }, user: user)
    }

    /// The first entry with a password counts. An account's password is that of its own entry, else that of an entry
    /// without a name; never another account's.
    private static func login(in entries: [Entry], user: String?) -> Login? {
        if let user {
            let own = entries.first { $0.user == user && $0.password != nil }
            let nameless = entries.first { $0.user == nil && $0.password != nil }
            return (own ?? nameless)?.password.map { Login(user: user, password: $0) }
        }
        guard let entry = entries.first(where: { $0.password != nil }) ?? entries.first(where: { $0.user != nil })
        else { return nil }
        return Login(user: entry.user ?? "", password: entry.password ?? "")
    }

    /// Splits the text into tokens.
    private struct Tokens {
        private var rest: Substring
        private(set) var isUnclosed = false

        init(_ text: String) { rest = text[...] }

        /// The next keyword; comments are passed over.
        mutating func next() -> String? {
            while true {
                rest = rest.drop(while: \.isWhitespace)
                guard rest.first == "#" else { return value() }
                rest = rest.drop { !$0.isNewline }
            }
        }

        /// The next token with any content, or nil at the end.
        mutating func value() -> String? {
            rest = rest.drop(while: \.isWhitespace)
            guard let first = rest.first else { return nil }
            if first == "\"" { return quoted() }
            let word = rest.prefix { !$0.isWhitespace }
            rest = rest[word.endIndex...]
            return String(word)
        }

        private mutating func quoted() -> String? {
            var word = ""
            rest.removeFirst()
            while let character = rest.popFirst(), !character.isNewline {
                if character == "\"" { return word }
                guard character == "\\" else {
                    word.append(character)
                    continue
                }
                guard let escaped = rest.popFirst(), !escaped.isNewline else { break }
                let controls: [Character: Character] = ["n": "\n", "r": "\r", "t": "\t"]
                word.append(controls[escaped] ?? escaped)
            }
            isUnclosed = true
            rest = ""
            return nil
        }

        /// Skips a macro, which begins with the rest of the line, its name, and ends at an empty line.
        mutating func skipMacro() {
            _ = nextLine()
            while let line = nextLine() {
                if line.isEmpty { return }
            }
        }

        private mutating func nextLine() -> Substring? {
            guard !rest.isEmpty else { return nil }
            let line = rest.prefix { !$0.isNewline }
            rest = rest[line.endIndex...].dropFirst()
            return line
        }
    }
}
