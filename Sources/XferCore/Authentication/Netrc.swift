/// Logins by machine from a netrc(5) file's text.
///
/// `machine`, `default`, `login`, `password`, `account` (ignored) and `macdef` (skipped); words may be quoted with `"`, with
/// `\` before what stands for itself; a word that begins with `#` begins a comment up to the line's end, unless it is a value.
public struct Netrc: Sendable {
    public struct Login: Hashable, Sendable {
        public var user: String
        public var password: String

        public init(user: String, password: String) {
            self.user = user
            self.password = password
        }
    }

    private var machines: [(name: String?, login: Login)] = []

    /// Never fails: text that cannot be understood is ignored.
    public init(_ text: String) {
        var words = Words(text)
        while let word = words.next() {
            switch word {
            case "machine": machines.append((words.value()?.lowercased() ?? "", Login(user: "", password: "")))
            case "default": machines.append((nil, Login(user: "", password: "")))
            case "login":
                if let user = words.value(), !machines.isEmpty { machines[machines.count - 1].login.user = user }
            case "password":
                if let password = words.value(), !machines.isEmpty {
                    machines[machines.count - 1].login.password = password
                }
            case "account": _ = words.value()
            case "macdef": words.skipMacro()
            default: break
            }
        }
    }

    /// The first entry of the host's name, else the first `default`.
    public func login(for host: String) -> Login? {
        login(naming: host) ?? machines.first { $0.name == nil }?.login
    }

    /// The first entry of the host's name.
    public func login(naming host: String) -> Login? {
        let host = host.lowercased()
        return machines.first { $0.name == host }?.login
    }

    /// Splits the text into words.
    private struct Words {
        private var rest: Substring

        init(_ text: String) { rest = text[...] }

        /// The next keyword; comments are passed over.
        mutating func next() -> String? {
            while true {
                rest = rest.drop(while: \.isWhitespace)
                guard rest.first == "#" else { return value() }
                rest = rest.drop { !$0.isNewline }
            }
        }

        /// The next word, whatever it looks like; nil at the end.
        mutating func value() -> String? {
            rest = rest.drop(while: \.isWhitespace)
            guard let first = rest.first else { return nil }
            if first == "\"" { return quoted() }
            let word = rest.prefix { !$0.isWhitespace }
            rest = rest[word.endIndex...]
            return String(word)
        }

        private mutating func quoted() -> String {
            var word = ""
            rest.removeFirst()
            while let character = rest.popFirst(), character != "\"" {
                word.append(character == "\\" ? rest.popFirst() ?? character : character)
            }
            return word
        }

        /// A macro ends at an empty line.
        mutating func skipMacro() {
            var wasEmpty = false
            while let line = nextLine() {
                if line.isEmpty, wasEmpty || !isFirstLine { return }
                wasEmpty = line.isEmpty
                isFirstLine = false
            }
        }

        private var isFirstLine = true

        private mutating func nextLine() -> Substring? {
            guard !rest.isEmpty else { return nil }
            let line = rest.prefix { !$0.isNewline }
            rest = rest[line.endIndex...].dropFirst()
            return line
        }
    }
}
