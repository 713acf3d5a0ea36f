import NIOCore

/// Limits how long a client may take to send a request. The timer starts at the request's first byte, and further bytes
/// do not extend it.
///
/// Use it on its event loop only.
final class RequestTimer {
    private let time: TimeAmount
    private var scheduled: Scheduled<Void>?

    init(_ time: Duration) { self.time = TimeAmount(time) }

    /// Starts the timer unless it runs already. `action` is called when the time has passed.
    func start(on loop: any EventLoop, _ action: @escaping () -> Void) {
        guard scheduled == nil else { return }
        scheduled = loop.assumeIsolated().scheduleTask(in: time) { [self] in
            scheduled = nil
            action()
        }
    }

    func stop() {
        scheduled?.cancel()
        scheduled = nil
    }
}
