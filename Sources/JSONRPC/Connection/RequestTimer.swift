import NIOCore

/// Ends a request that does not become complete: it starts at the request's first byte, and further bytes do not extend
/// it.
///
/// Confined to its event loop.
final class RequestTimer {
    private let time: TimeAmount
    private var scheduled: Scheduled<Void>?

    init(_ time: Duration) { self.time = TimeAmount(time) }

    /// Starts it unless it runs already.
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
