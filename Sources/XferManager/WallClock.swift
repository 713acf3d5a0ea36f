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
