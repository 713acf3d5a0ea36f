import CLinux
import Glibc

/// The mounts that this process sees (proc(5), /proc/PID/mountinfo). Reading them touches no file system, so that it
/// never waits for one that does not answer.
public struct MountTable: Sendable {
    public struct Mount: Hashable, Sendable {
        /// The directory where its files are seen.
        public let point: String
        /// `ext4`, `fuse.sshfs`, …
        public let type: String
        let major: UInt32
        let minor: UInt32
    }

    static let path = "/proc/self/mountinfo"

    /// The mounts in the order in which they were made: of two at one place, the later one counts.
    public let mounts: [Mount]

    /// The present mounts. They are read again only after a change.
    public static var present: MountTable { FileSystems.ofProcess.mounts }

    /// Reads the present mounts; none if they cannot be read.
    init() { self.init(text: Self.read() ?? []) }

    init(text: [UInt8]) {
        mounts = text.split(separator: UInt8(ascii: "\n")).compactMap(Self.mount)
    }

    /// The mount that contains a path, by its text alone. Links are not followed.
    ///
    /// - Parameter path: absolute, without `.` and `..`.
    public func mount(of path: String) -> Mount? {
        var found: Mount?
        for mount in mounts where ResolvedPath.isWithin(path, mount.point) {
            if found.map({ $0.point.utf8.count <= mount.point.utf8.count }) ?? true { found = mount }
        }
        return found
    }

    /// The device number of the mount that contains a path, by its text, in the form of stat(2); nil if no mount is
    /// known.
    public func device(of path: String) -> UInt64? {
        mount(of: ResolvedPath.tidy(path)).map { xfer_device(UInt64(clamping: $0.major), UInt64(clamping: $0.minor)) }
    }

    /// The mount with this device number, stat(2); nil if there is none, as for subvolumes of btrfs. Of several it is
    /// the one with the shortest path, the latest of those: others show a part of the file system at another place.
    public func mount(ofDevice device: UInt64) -> Mount? {
        let (major, minor) = (xfer_major(device), xfer_minor(device))
        let found = mounts.reversed().filter { $0.major == major && $0.minor == minor }
        return found.min { $0.point.utf8.count < $1.point.utf8.count }
    }

    /// True if a mount has this device number, stat(2).
    public func hasDevice(_ device: UInt64) -> Bool { mount(ofDevice: device) != nil }

    /// The type of the file system with this device number, stat(2); nil if no mount has it, as for subvolumes of
    /// btrfs.
    static func type(ofDevice device: UInt64) -> String? {
        MountTable().mount(ofDevice: device)?.type
    }

    /// `36 35 98:0 / /mnt rw,noatime master:1 - ext3 /dev/root rw`: optional fields end at the dash.
    private static func mount(_ line: ArraySlice<UInt8>) -> Mount? {
        let fields = line.split(separator: UInt8(ascii: " "))
        guard fields.count > 6, let dash = fields[6...].firstIndex(where: { $0.elementsEqual("-".utf8) }),
            dash + 1 < fields.count
        else { return nil }
        let numbers = fields[2].split(separator: UInt8(ascii: ":")).compactMap { UInt32(text($0), radix: 10) }
        guard numbers.count == 2 else { return nil }
        return Mount(
            point: text(unescaped(fields[4])), type: text(fields[dash + 1]), major: numbers[0], minor: numbers[1])
    }

    private static func text(_ bytes: some Collection<UInt8>) -> String { String(decoding: bytes, as: UTF8.self) }

    /// Decodes a field of the table, in which space, tab, line feed and backslash are written as three octal digits.
    private static func unescaped(_ field: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = field
        while let byte = rest.popFirst() {
            let digits = rest.prefix(3).compactMap { (48...55).contains($0) ? Int(clamping: $0) - 48 : nil }
            guard byte == UInt8(ascii: "\\"), digits.count == 3 else {
                bytes.append(byte)
                continue
            }
            bytes.append(UInt8(truncatingIfNeeded: digits[0] * 64 + digits[1] * 8 + digits[2]))
            rest = rest.dropFirst(3)
        }
        return bytes
    }

    private static func read() -> [UInt8]? {
        guard case .value(let handle) = openDescriptor(path, flags: O_RDONLY) else { return nil }
        var bytes: [UInt8] = []
        var chunk = [UInt8](repeating: 0, count: 16 << 10)
        while true {
            switch retryingInterrupts({ Glibc.read(handle.raw, &chunk, chunk.count) }) {
            case .value(0): return bytes
            case .value(let count): bytes += chunk.prefix(count)
            case .failure: return nil
            }
        }
    }
}
