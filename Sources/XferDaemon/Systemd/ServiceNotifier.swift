public import Glibc
import XferModel
import XferSystem

/// Reports the service's state to the service manager by the protocol of sd_notify(3), without libsystemd.
///
/// Without `NOTIFY_SOCKET` every call does nothing, so callers need not check.
public struct ServiceNotifier: Sendable {
    /// The messages; each is a line of the datagram.
    public enum Message: Hashable, Sendable {
        /// The start or a reload has finished.
        case ready
        /// A line for people in `systemctl status`; line breaks become spaces.
        case status(String)
        /// The configuration is being read again. The message contains CLOCK_MONOTONIC, as `Type=notify-reload`
        /// requires.
        case reloading(monotonicMicroseconds: UInt64)
        case stopping
        /// Keep-alive: if it is missing for `WATCHDOG_USEC`, the manager kills the service.
        case watchdog
        /// Start, reload or stop takes this much longer, counted from now.
        case extendTimeout(by: Duration)
        /// The pid of the main process.
        case mainProcess(Int32)

        var line: String {
            switch self {
            case .ready: "READY=1"
            case .status(let text): "STATUS=" + text.map { $0.isNewline ? " " : String($0) }.joined()
            case .reloading(let microseconds): "RELOADING=1\nMONOTONIC_USEC=\(microseconds)"
            case .stopping: "STOPPING=1"
            case .watchdog: "WATCHDOG=1"
            case .extendTimeout(let duration):
                "EXTEND_TIMEOUT_USEC=\(duration.components.seconds * 1_000_000 + duration.components.attoseconds / 1_000_000_000_000)"
            case .mainProcess(let id): "MAINPID=\(id)"
            }
        }
    }

    private let address: UnixAddress?

    /// - Parameter environment: `NOTIFY_SOCKET` contains a path or, after `@`, an abstract name (unix(7)).
    public init(environment: [String: String]) {
        address = environment["NOTIFY_SOCKET"].flatMap { UnixAddress(notifySocket: $0) }
    }

    /// True if the service manager expects notifications.
    public var isEnabled: Bool { address != nil }

    /// Sends the messages in one datagram. Failures are ignored, because they must not stop the service.
    @discardableResult
    public func send(_ messages: Message...) -> Bool {
        guard let address, !messages.isEmpty else { return false }
        // A socket for each datagram: they are minutes apart, and no descriptor is held for them. It does not wait for
        // a full queue, which means that the receiver does not read.
        let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return false }
        defer { close(descriptor) }
        let text = messages.map(\.line).joined(separator: "\n")
        return address.withSocketAddress { pointer, length in
            var text = text
            return text.withUTF8 { bytes in
                sendto(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT), pointer, length)
                    == bytes.count
            }
        }
    }

    /// Announces a reload with the time it began, CLOCK_MONOTONIC.
    @discardableResult
    public func sendReloading() -> Bool {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        let instant = MonotonicInstant(seconds: now.tv_sec, nanoseconds: now.tv_nsec)
        return send(.reloading(monotonicMicroseconds: UInt64(clamping: instant.nanoseconds / 1000)))
    }
}

/// Notifies the service manager's watchdog while the service is alive (sd_watchdog_enabled(3)).
///
/// Without a watchdog, no timer runs.
public struct Watchdog: Sendable {
    /// The manager's timeout; messages are sent at half of it.
    public let timeout: Duration
    private let notifier: ServiceNotifier

    /// Reads the interval. Returns nil when the manager has no watchdog for this process (`WATCHDOG_PID` may be another
    /// process).
    public init?(environment: [String: String], processID: Int32 = getpid()) {
        guard let text = environment["WATCHDOG_USEC"], let microseconds = Int64(text, radix: 10), microseconds > 0,
            environment["WATCHDOG_PID"].map({ Int32($0, radix: 10) == processID }) ?? true
        else { return nil }
        notifier = ServiceNotifier(environment: environment)
        guard notifier.isEnabled else { return nil }
        timeout = .microseconds(microseconds)
    }

    /// Checks whether the service is alive and notifies the manager, until the task is cancelled.
    ///
    /// - Parameter isAlive: checks the necessary parts (the manager, the store, the loop). While it returns false or
    ///   does not return, nothing is sent and the manager acts.
    public func run(
        clock: any Clock<Duration> = ContinuousClock(), isAlive: @Sendable () async -> Bool
    ) async {
        while !Task.isCancelled {
            if await isAlive() { notifier.send(.watchdog) }
            guard (try? await clock.sleep(for: timeout / 2)) != nil else { return }
        }
    }
}
