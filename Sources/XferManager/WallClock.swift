import Glibc
import XferCore
public import XferModel
import XferSystem

/// Reads the wall clock. Tests supply their own.
public typealias WallClock = @Sendable () -> Timestamp

extension Clocks {
    /// Both clocks and the boot id (random(4), /proc/sys/kernel/random/boot_id). Without a boot id, every start of the
    /// service counts as a boot.
    static let reader: ClockReader = { ClockReading(wall: wall(), uptime: monotonic(), boot: bootID) }

    private static let bootID: String = {
        let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "pid\(getpid())" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 36)
        guard Glibc.read(descriptor, &bytes, bytes.count) == bytes.count else { return "pid\(getpid())" }
        return String(decoding: bytes, as: UTF8.self)
    }()
}

/// A timer that wakes the manager at one point in time, such as the end of the earliest wait.
struct WakeTimer {
    private var armed: (target: Timestamp, task: Task<Void, Never>)?

    /// Arms the timer for `target`, replacing an earlier target; nil disarms it.
    ///
    /// It sleeps on a clock that is never set, for the time left until `target`: setting the wall clock back does not
    /// prolong a wait.
    mutating func arm(for target: Timestamp?, now: Timestamp, _ fire: @escaping @Sendable (Timestamp) async -> Void) {
        // A target that has passed was armed under another wall clock.
        if let armed, let target, armed.target == target, target > now, !armed.task.isCancelled { return }
        armed?.task.cancel()
        armed = nil
        guard let target else { return }
        let length = max(.zero, now.duration(to: target))
        let task = Task {
            guard (try? await Task.sleep(for: length, clock: .continuous)) != nil else { return }
            await fire(target)
        }
        armed = (target, task)
    }

    /// Lets the next `arm` compute the time left again, even for the same target, because the wall clock was set.
    mutating func disarm() {
        armed?.task.cancel()
        armed = nil
    }

    /// Records that the timer has fired: the next `arm` starts a new sleep.
    mutating func onFired() { armed = nil }
}
