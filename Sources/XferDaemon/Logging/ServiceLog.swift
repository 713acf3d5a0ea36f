public import Glibc
public import Logging
import NIOConcurrencyHelpers
import XferModel
import XferSystem

/// The service's log: its destination and its level, which can be changed while it runs.
public final class ServiceLog: Sendable {
    private let state: NIOLockedValueBox<Logger.Level>
    private let form: LogRecord.Form
    private let journal: JournalSocket?
    private let descriptor: Int32
    /// Keeps lines from being mixed: a pipe splits writes of more than `PIPE_BUF` bytes (pipe(7)).
    private let writing = NIOLock()

    /// - Parameter format: the result of `LogFormat.resolved`. `auto` means text.
    public convenience init(level: Logger.Level, format: LogFormat) {
        self.init(level: level, format: format, journal: format == .journal ? JournalSocket() : nil)
    }

    /// - Parameter journal: the journal for records with their fields; records that it does not accept are written to
    ///   the descriptor.
    init(level: Logger.Level, format: LogFormat, journal: JournalSocket? = nil, descriptor: Int32 = STDERR_FILENO) {
        state = NIOLockedValueBox(level)
        form =
            switch format {
            case .auto, .text: .text
            case .journal: .journal
            case .json: .json
            }
        self.journal = journal
        self.descriptor = descriptor
    }

    /// The lowest level that is written. Every logger made here follows a change at once, except those whose own
    /// `logLevel` was set.
    public var level: Logger.Level {
        get { state.withLockedValue { $0 } }
        set { state.withLockedValue { $0 = newValue } }
    }

    /// Makes this the log of every `Logger`; once in a process.
    public func bootstrap() {
        LoggingSystem.bootstrap(
            { label, provider in ServiceLogHandler(label: label, log: self, metadataProvider: provider) },
            metadataProvider: nil)
    }

    /// A logger that writes to this log, even if it is not the process's log.
    public func logger(label: String) -> Logger {
        Logger(label: label) { ServiceLogHandler(label: $0, log: self, metadataProvider: nil) }
    }

    /// Writes one line; a line that cannot be written is lost, since there is no other place to report it.
    func write(_ record: LogRecord) {
        if let journal, journal.send(record) { return }
        var line = record.line(form) + "\n"
        line.withUTF8 { bytes in
            writing.withLock {
                var rest = UnsafeRawBufferPointer(bytes)
                while !rest.isEmpty {
                    let count = Glibc.write(descriptor, rest.baseAddress, rest.count)
                    if count < 0, errno == EINTR { continue }
                    guard count > 0 else { return }
                    rest = UnsafeRawBufferPointer(rebasing: rest[count...])
                }
            }
        }
    }
}

/// swift-log's handler for `ServiceLog`.
struct ServiceLogHandler: LogHandler {
    let label: String
    let log: ServiceLog
    var metadataProvider: Logger.MetadataProvider?
    var metadata: Logger.Metadata = [:]
    private var ownLevel: Logger.Level?

    init(label: String, log: ServiceLog, metadataProvider: Logger.MetadataProvider?) {
        self.label = label
        self.log = log
        self.metadataProvider = metadataProvider
    }

    var logLevel: Logger.Level {
        get { ownLevel ?? log.level }
        set { ownLevel = newValue }
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var fields = metadataProvider?.get() ?? [:]
        fields.merge(metadata) { $1 }
        fields.merge(event.metadata ?? [:]) { $1 }
        log.write(
            LogRecord(
                time: Clocks.wall(), level: event.level, label: label, message: event.message.description,
                metadata: fields))
    }
}

/// The form in which log messages are written to standard error.
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
