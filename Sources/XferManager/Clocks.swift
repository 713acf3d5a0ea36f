import Glibc
import XferCore
public import XferModel

/// Reads the wall clock. Tests supply their own.
public typealias WallClock = @Sendable () -> Timestamp

/// The system's clocks (clock_gettime(2)).
public enum Clocks {
    /// CLOCK_REALTIME.
    public static let wall: WallClock = {
        var now = timespec()
        clock_gettime(CLOCK_REALTIME, &now)
        return Timestamp(seconds: now.tv_sec, nanoseconds: now.tv_nsec)
    }

    /// Both clocks and the boot id (random(4), /proc/sys/kernel/random/boot_id). Without a boot id, every start of the
    /// service counts as a boot.
    public static let reader: ClockReader = { ClockReading(wall: wall(), uptime: monotonic(), boot: bootID) }

    private static let bootID: String = {
        let descriptor = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "pid\(getpid())" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 36)
        guard Glibc.read(descriptor, &bytes, bytes.count) == bytes.count else { return "pid\(getpid())" }
        return String(decoding: bytes, as: UTF8.self)
    }()

    /// CLOCK_BOOTTIME: never set, counts while the machine sleeps.
    public static func monotonic() -> MonotonicInstant {
        var now = timespec()
        clock_gettime(CLOCK_BOOTTIME, &now)
        return MonotonicInstant(seconds: now.tv_sec, nanoseconds: now.tv_nsec)
    }
}
