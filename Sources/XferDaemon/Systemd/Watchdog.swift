public import Glibc

/// Notifies the service manager's watchdog while the service is alive (sd_watchdog_enabled(3)).
///
/// Without a watchdog nothing runs and nothing wakes up.
public struct Watchdog: Sendable {
    /// The manager's timeout; messages are sent at half of it.
    public let timeout: Duration
    private let notifier: ServiceNotifier

    /// Nil when the manager has no watchdog for this process (`WATCHDOG_PID` may name another one).
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
