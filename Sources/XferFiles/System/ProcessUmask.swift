import Glibc

/// The process's file mode creation mask (umask). Partial files are made with 0600, so publishing has to apply it.
public enum ProcessUmask {
    /// The mode of a published file when the task does not set one: read-write for all less the umask; 0600 where the
    /// umask cannot be read. Read from proc_pid_status(5), because umask(2) can only be read by setting it for all
    /// threads.
    public static func defaultFileMode() -> UInt16 {
        for line in status().split(separator: "\n") where line.hasPrefix("Umask:") {
            let digits = line.dropFirst(6).drop { $0 == "\t" || $0 == " " }
            if let mask = UInt16(digits, radix: 8) { return 0o666 & ~mask }
        }
        return 0o600
    }

    private static func status() -> String {
        guard case .value(let file) = openDescriptor("/proc/self/status", flags: O_RDONLY) else { return "" }
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(file.raw, &bytes, bytes.count)
        return count > 0 ? String(decoding: bytes[..<count], as: UTF8.self) : ""
    }
}
