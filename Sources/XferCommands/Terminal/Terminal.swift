import Glibc

/// What is known about the place output goes to: whether a person reads it live, how wide it is, what it can show.
struct Terminal: Sendable {
    let output: Output
    let isInteractive: Bool
    /// Colours are used on terminals unless `NO_COLOR` is set (no-color.org) or the terminal is `dumb`.
    let usesColour: Bool
    /// Whether the locale's character set is UTF-8, so that block characters can be drawn.
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
    /// For news beside data that goes to standard output.
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
