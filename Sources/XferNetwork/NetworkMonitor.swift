import CLinux
import Glibc
public import XferModel
public import XferSystem
import XferThreads

/// Watches the machine's links, addresses and routes (rtnetlink(7)).
///
/// Its thread sleeps until the kernel reports a change, and then reads the whole state again: the kernel does not
/// report routes that are removed with a link or an address, so the reported changes alone would not add up. While
/// nothing changes it does not wake up.
public final class NetworkMonitor: Sendable {
    /// The state of the network when the monitor began.
    public let initial: NetworkFacts
    private let wake: Wake

    /// - Parameter onChange: called with every state that differs from the previous one, in order, on the monitor's
    ///   thread; nil when reading failed.
    public init(onChange: @escaping @Sendable (NetworkFacts?) -> Void) throws(SystemCallError) {
        wake = try Wake()
        // Opened first, so that no change is missed between the first state and the first message.
        let news = try NetlinkSocket(groups: xfer_netlink_groups())
        var dump = try NetlinkDump()
        var buffer = [UInt8](repeating: 0, count: Watch.bufferSize)
        initial = try dump.facts(&buffer)
        let watch = Watch(news: news, wake: wake, told: initial, onChange: onChange)
        do throws(ThreadError) {
            try BackgroundThread.start("xferd-network") { watch.run() }
        } catch {
            throw SystemCallError("pthread_create", code: error.code)
        }
    }

    deinit { stop() }

    /// Ends the thread; a call of `onChange` may still be under way.
    public func stop() { wake.signal() }
}

/// Wakes the thread to end it.
private final class Wake: Sendable {
    let descriptor: Int32

    init() throws(SystemCallError) {
        descriptor = xfer_eventfd_create()
        guard descriptor >= 0 else { throw SystemCallError("eventfd") }
    }

    deinit { close(descriptor) }

    func signal() {
        var one: UInt64 = 1
        _ = write(descriptor, &one, MemoryLayout.size(ofValue: one))
    }
}

/// The thread's work.
private final class Watch: @unchecked Sendable {
    // Sendable: what changes is touched by the one thread that runs `run`.
    static let bufferSize = 1 << 16
    /// Changes that belong together come within moments: a link, then its addresses, then its routes.
    private static let gathering: Int32 = 20
    /// If there are many routes, reading them may take a tenth of the thread's time at most.
    private static let restFactor = 9

    private let news: NetlinkSocket
    private let wake: Wake
    private var told: NetworkFacts?
    private let onChange: @Sendable (NetworkFacts?) -> Void

    init(
        news: NetlinkSocket, wake: Wake, told: NetworkFacts, onChange: @escaping @Sendable (NetworkFacts?) -> Void
    ) {
        self.news = news
        self.wake = wake
        self.told = told
        self.onChange = onChange
    }

    func run() {
        var buffer = [UInt8](repeating: 0, count: Self.bufferSize)
        var rest = Self.gathering
        while isWorthWaking(), !hasEnded(within: rest) {
            let begin = ContinuousClock.now
            var facts: NetworkFacts?
            do throws(SystemCallError) {
                try news.drain(&buffer)
                var dump = try NetlinkDump()
                facts = try dump.facts(&buffer)
            } catch {
                facts = nil
            }
            if facts != told {
                told = facts
                onChange(facts)
            }
            let took = (ContinuousClock.now - begin) * Self.restFactor
            rest = Int32(
                saturating: max(.milliseconds(Int(clamping: Self.gathering)), min(took, .seconds(5))) / .milliseconds(1)
            )
        }
    }

    /// Waits for a change; false when the thread has to end.
    private func isWorthWaking() -> Bool {
        var descriptors = [
            pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: news.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&descriptors, 2, -1) < 0 { guard errno == EINTR else { return false } }
        return descriptors[0].revents == 0
    }

    /// Waits for this long; true when the thread has to end.
    private func hasEnded(within milliseconds: Int32) -> Bool {
        var descriptor = pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, milliseconds) > 0
    }
}

/// Asks the kernel for the route to an address. Nothing is sent.
public enum RouteProbe {
    /// The source address for packets to the destination; nil when there is no route.
    public static func source(to destination: IPAddress) -> IPAddress? {
        var source = [UInt8](repeating: 0, count: destination.bytes.count)
        guard xfer_route_source(destination.bytes, destination.isIPv6 ? 1 : 0, &source) == 0 else { return nil }
        return IPAddress(bytes: source)
    }
}
