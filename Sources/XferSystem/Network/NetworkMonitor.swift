import CLinux
import Glibc
public import XferModel

/// Watches the machine's links, addresses and routes (rtnetlink(7)).
///
/// Its thread sleeps until the kernel reports a change, and then reads the whole state again. The reported changes
/// alone are not complete: the kernel does not report routes that are removed together with a link or an address. While
/// nothing changes, the thread does not wake up.
public final class NetworkMonitor: Sendable {
    /// The state of the network when the monitor began.
    public let initial: NetworkFacts
    private let wake: Wake

    /// - Parameter onChange: called on the monitor's thread with every state that differs from the previous one, in
    ///   order. The state is nil if it could not be read.
    public init(onChange: @escaping @Sendable (NetworkFacts?) -> Void) throws(SystemCallError) {
        wake = try Wake()
        // The socket for changes is opened first, so that no change after the first dump is missed.
        let changes = try NetlinkSocket(groups: xfer_netlink_groups())
        var dump = try NetlinkDump()
        var buffer = [UInt8](repeating: 0, count: Watch.bufferSize)
        initial = try dump.facts(&buffer)
        let watch = Watch(changes: changes, wake: wake, announced: initial, onChange: onChange)
        do throws(ThreadError) {
            try BackgroundThread.start("xferd-network") { watch.run() }
        } catch {
            throw SystemCallError("pthread_create", code: error.code)
        }
    }

    deinit { stop() }

    /// Ends the thread. A call of `onChange` may still be running when `stop` returns.
    public func stop() { wake.signal() }
}

/// An eventfd(2) that wakes the monitor's thread to end it.
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

/// The work of the monitor's thread.
private final class Watch: @unchecked Sendable {
    // `@unchecked Sendable`: only the thread that calls `run` uses the mutable state.
    static let bufferSize = 1 << 16
    /// The time to wait after a reported change, in milliseconds. Related changes arrive shortly one after the other: a
    /// link, then its addresses, then its routes.
    private static let gathering: Int32 = 20
    /// The length of the rest after a dump, in durations of the dump, at most 5 s. So many routes cost at most
    /// a tenth of the thread's time, unless a dump takes longer than about 0.55 s.
    private static let restFactor = 9

    private let changes: NetlinkSocket
    private let wake: Wake
    private var announced: NetworkFacts?
    private let onChange: @Sendable (NetworkFacts?) -> Void

    init(
        changes: NetlinkSocket, wake: Wake, announced: NetworkFacts,
        onChange: @escaping @Sendable (NetworkFacts?) -> Void
    ) {
        self.changes = changes
        self.wake = wake
        self.announced = announced
        self.onChange = onChange
    }

    func run() {
        var buffer = [UInt8](repeating: 0, count: Self.bufferSize)
        var rest = Self.gathering
        while isWorthWaking(), !hasEnded(within: rest) {
            let begin = ContinuousClock.now
            var facts: NetworkFacts?
            do throws(SystemCallError) {
                try changes.drain(&buffer)
                var dump = try NetlinkDump()
                facts = try dump.facts(&buffer)
            } catch {
                facts = nil
            }
            if facts != announced {
                announced = facts
                onChange(facts)
            }
            let took = (ContinuousClock.now - begin) * Self.restFactor
            rest = Int32(
                saturating: max(.milliseconds(Int(clamping: Self.gathering)), min(took, .seconds(5))) / .milliseconds(1)
            )
        }
    }

    /// Waits for a change. Returns false when the thread has to end.
    private func isWorthWaking() -> Bool {
        var descriptors = [
            pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: changes.descriptor, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&descriptors, 2, -1) < 0 { guard errno == EINTR else { return false } }
        return descriptors[0].revents == 0
    }

    /// Waits for `milliseconds`. Returns true when the thread has to end.
    private func hasEnded(within milliseconds: Int32) -> Bool {
        var descriptor = pollfd(fd: wake.descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&descriptor, 1, milliseconds) > 0
    }
}

/// Queries the kernel for the route to an address. No packet is sent.
public enum RouteProbe {
    /// The source address for packets to the destination; nil when there is no route.
    public static func source(to destination: IPAddress) -> IPAddress? {
        var source = [UInt8](repeating: 0, count: destination.bytes.count)
        guard xfer_route_source(destination.bytes, destination.isIPv6 ? 1 : 0, &source) == 0 else { return nil }
        return IPAddress(bytes: source)
    }
}
