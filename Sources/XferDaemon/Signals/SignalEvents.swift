import Dispatch
public import Glibc

/// Signals of the process as a stream, without polling.
///
/// A handler writes the number into a pipe (the self-pipe trick of signal-safety(7)) whose other end Dispatch watches.
/// Masks play no part, so threads of libraries and children started later are not affected.
public enum SignalEvents {
    public enum Signal: Int32, Hashable, Sendable, CaseIterable {
        /// Stop: checkpoint and exit (systemd, `kill`).
        case terminate = 15
        /// Ctrl-C.
        case interrupt = 2
        /// Read the configuration again.
        case hangUp = 1
    }

    /// Installs the handlers, for the life of the process, and gives the signals as they come.
    ///
    /// Signals that come before somebody iterates are kept. A later call for the same signal takes it over.
    /// - Throws: the error number when no pipe could be made.
    public static func stream(_ signals: [Signal] = Signal.allCases) throws(SystemError) -> AsyncStream<Signal> {
        let (stream, continuation) = AsyncStream.makeStream(of: Signal.self, bufferingPolicy: .bufferingNewest(64))
        try SignalPipe.shared.deliver(signals) { continuation.yield($0) }
        return stream
    }

    /// Makes writing to a closed pipe or socket an error instead of the end of the process.
    public static func ignoreBrokenPipes() {
        var action = sigaction()
        action.__sigaction_handler.sa_handler = SIG_IGN
        sigaction(SIGPIPE, &action, nil)
    }
}

/// A failed system call.
public struct SystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// As in errno(3).
    public let number: Int32
    /// The call that failed.
    public let call: String

    public init(call: String, number: Int32 = errno) {
        self.call = call
        self.number = number
    }

    public var description: String { "\(call): \(String(cString: strerror(number)))" }
}
