public import Glibc

/// How log messages are written to standard error.
public enum LogFormat: String, Hashable, Sendable, CaseIterable {
    /// `journal` when standard error is the journal's, else `text`.
    case auto
    /// A timestamp, the level and the message, for people.
    case text
    /// A syslog priority before each line, for the journal, which adds the time itself (sd-daemon(3)).
    case journal
    /// An object a line.
    case json

    /// The format that `auto` selects: systemd puts the device and inode of its stream into `JOURNAL_STREAM`
    /// (systemd.exec(5)); a redirected standard error has others.
    public func resolved(environment: [String: String], standardError: Int32 = STDERR_FILENO) -> LogFormat {
        guard self == .auto else { return self }
        var status = stat()
        guard let stream = environment["JOURNAL_STREAM"], fstat(standardError, &status) == 0 else { return .text }
        return stream == "\(status.st_dev):\(status.st_ino)" ? .journal : .text
    }
}
