import Glibc

/// The properties of the output: whether a person reads it live, its width, and the characters that it can show.
struct Terminal: Sendable {
    let output: Output
    let isInteractive: Bool
    /// Colours are used on terminals unless `NO_COLOR` is set (no-color.org) or the terminal is `dumb`.
    let usesColour: Bool
    /// True if the locale's character set is UTF-8, so that block characters can be drawn.
    let usesUnicode: Bool

    init(_ output: Output, environment: (String) -> String? = environmentValue) {
        self.output = output
        let isDumb = environment("TERM").map { $0.isEmpty || $0 == "dumb" } ?? true
        isInteractive = isatty(output.descriptor) == 1 && !isDumb
        usesColour = isInteractive && (environment("NO_COLOR") ?? "").isEmpty
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].compactMap(environment).first { !$0.isEmpty } ?? ""
        let characterSet = locale.lowercased().filter { $0 != "-" }
        usesUnicode = characterSet.hasSuffix("utf8") || characterSet.contains("utf8@")
    }

    static let standard = Terminal(.standard)
    /// The terminal for messages: standard error, while data goes to standard output.
    static let error = Terminal(.error)

    var style: Style { Style(isEnabled: usesColour) }

    /// Columns and rows now (`TIOCGWINSZ`, ioctl_tty(2)); 80 × 24 when unknown.
    var size: Size {
        var window = winsize()
        guard ioctl(output.descriptor, UInt(TIOCGWINSZ), &window) == 0, window.ws_col > 0, window.ws_row > 0 else {
            return Size(columns: 80, rows: 24)
        }
        return Size(columns: Int(clamping: window.ws_col), rows: Int(clamping: window.ws_row))
    }

    struct Size: Hashable, Sendable {
        var columns: Int
        var rows: Int
    }
}

/// The value of an environment variable, nil when it is not set.
func environmentValue(_ name: String) -> String? {
    getenv(name).map { String(cString: $0) }
}

/// Colours and weights (ECMA-48 §8.3.117), nothing at all when not enabled.
struct Style: Sendable {
    enum Attribute: Int, Sendable {
        case bold = 1
        case dim = 2
        case reverse = 7
        case red = 31
        case green = 32
        case yellow = 33
        case magenta = 35
        case cyan = 36
    }

    let isEnabled: Bool

    static let plain = Style(isEnabled: false)

    func callAsFunction(_ attribute: Attribute?, _ text: String) -> String {
        guard isEnabled, let attribute, !text.isEmpty else { return text }
        return "\u{1b}[\(attribute.rawValue)m\(text)\u{1b}[0m"
    }
}

/// A terminal's input settings changed for a while (termios(3)).
struct TerminalMode {
    private let descriptor: Int32
    private let original: termios
    private let changed: termios

    /// Switches the terminal to single keys without echo. Returns nil when the descriptor is not a terminal.
    /// - Parameter keepsSignals: true if Ctrl-C still raises SIGINT; otherwise it is read as byte 3.
    init?(readingKeysFrom descriptor: Int32, keepsSignals: Bool) {
        var settings = termios()
        guard tcgetattr(descriptor, &settings) == 0 else { return nil }
        self.descriptor = descriptor
        original = settings
        settings.c_lflag &= ~tcflag_t(ICANON | ECHO)
        if !keepsSignals { settings.c_lflag &= ~tcflag_t(ISIG) }
        changed = settings
        guard tcsetattr(descriptor, TCSANOW, &settings) == 0 else { return nil }
    }

    /// Changes them again after `restore`.
    func apply() {
        var settings = changed
        tcsetattr(descriptor, TCSANOW, &settings)
    }

    func restore() {
        var settings = original
        tcsetattr(descriptor, TCSANOW, &settings)
    }
}
