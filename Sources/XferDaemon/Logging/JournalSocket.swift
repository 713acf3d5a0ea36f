import Glibc
import Logging
import XferSystem

/// Writes records to the journal with their fields, so that it finds them by `XFER_TASK=17`.
///
/// A record is one datagram (https://systemd.io/JOURNAL_NATIVE_PROTOCOL/). A record that the journal does not accept at
/// once is written to standard error instead, which is the journal's, too: the line is kept, without fields.
struct JournalSocket: Sendable {
    /// The socket of the machine's journal.
    static let systemPath = "/run/systemd/journal/socket"

    /// The longest datagram, in bytes; a longer one would have to be passed as a file.
    private static let longestDatagram = 48 << 10

    private let address: UnixAddress
    private let descriptor: Int32

    /// Opens the socket. Returns nil if there is none. The descriptor is never closed: a log exists as long as the
    /// process.
    init?(path: String = systemPath) {
        guard let address = UnixAddress(path: path) else { return nil }
        self.address = address
        descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { return nil }
    }

    /// Sends the record; false if the journal did not accept it. Never waits.
    func send(_ record: LogRecord) -> Bool {
        let datagram = Self.datagram(record)
        guard datagram.count <= Self.longestDatagram else { return false }
        return address.withSocketAddress { pointer, length in
            datagram.withUnsafeBytes { bytes in
                sendto(descriptor, bytes.baseAddress, bytes.count, Int32(MSG_NOSIGNAL | MSG_DONTWAIT), pointer, length)
                    == bytes.count
            }
        }
    }

    /// The record's fields. `task` becomes `XFER_TASK`: without the prefix, a name could be one of the journal's own.
    static func datagram(_ record: LogRecord) -> [UInt8] {
        var bytes: [UInt8] = []
        append("MESSAGE", record.line(.plain), to: &bytes)
        append("PRIORITY", String(record.level.syslogPriority), to: &bytes)
        append("SYSLOG_IDENTIFIER", "xferd", to: &bytes)
        for field in record.fields {
            guard let name = fieldName(field.key) else { continue }
            append(name, field.value, to: &bytes)
        }
        return bytes
    }

    private static func append(_ name: String, _ value: String, to bytes: inout [UInt8]) {
        bytes += Array(name.utf8)
        if value.utf8.contains(UInt8(ascii: "\n")) {
            // A value with line breaks is preceded by its length, 64 bits in little-endian order.
            bytes.append(UInt8(ascii: "\n"))
            withUnsafeBytes(of: UInt64(clamping: value.utf8.count).littleEndian) { bytes += Array($0) }
        } else {
            bytes.append(UInt8(ascii: "="))
        }
        bytes += Array(value.utf8)
        bytes.append(UInt8(ascii: "\n"))
    }

    /// Capitals, digits and underscores, at most 64; nil if nothing is left.
    private static func fieldName(_ key: String) -> String? {
        let name = key.uppercased().unicodeScalars.map { scalar -> Character in
            let isKept = ("A"..."Z").contains(scalar) || ("0"..."9").contains(scalar)
            return isKept ? Character(scalar) : "_"
        }
        return name.isEmpty ? nil : "XFER_" + String(name.prefix(59))
    }
}
