import Glibc

/// A terminal's input settings changed for a while (termios(3)).
struct TerminalMode {
    private let descriptor: Int32
    private let original: termios
    private let changed: termios

    /// Keys are delivered one by one and not echoed. Nil when the descriptor is no terminal.
    /// - Parameter keepsSignals: whether Ctrl-C still raises SIGINT; otherwise it is read as byte 3.
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
