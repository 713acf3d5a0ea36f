/// Bytes of HTTP/2 frames (RFC 9113 §4.1), for scripts of a `RawServer`.
public enum HTTP2Frame {
    /// The bytes with which a client's connection begins.
    public static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    /// An empty SETTINGS frame: the server's preface.
    public static let settings = frame(4, stream: 0, [])

    /// A final response without fields; only some statuses fit (RFC 7541, appendix A).
    public static func head(stream: UInt8) -> [UInt8] { frame(1, flags: 4, stream: stream, [0x88]) }

    public static func data(_ bytes: [UInt8], stream: UInt8, endsStream: Bool = false) -> [UInt8] {
        frame(0, flags: endsStream ? 1 : 0, stream: stream, bytes)
    }

    /// RST_STREAM with an error code (RFC 9113 §7).
    public static func reset(_ code: UInt8, stream: UInt8) -> [UInt8] { frame(3, stream: stream, [0, 0, 0, code]) }

    private static func frame(_ type: UInt8, flags: UInt8 = 0, stream: UInt8, _ payload: [UInt8]) -> [UInt8] {
        let count = UInt32(clamping: payload.count)
        let length = [16, 8, 0].map { UInt8(truncatingIfNeeded: count >> $0) }
        return length + [type, flags, 0, 0, 0, stream] + payload
    }
}
