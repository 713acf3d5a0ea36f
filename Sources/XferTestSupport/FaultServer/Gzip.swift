/// gzip (RFC 1952) without compression: enough for a server that insists on a content coding.
public enum Gzip {
    /// The bytes as stored deflate blocks.
    public static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 255]
        var rest = bytes[...]
        repeat {
            let block = rest.prefix(65_535)
            rest = rest.dropFirst(block.count)
            let count = UInt16(block.count)
            output.append(rest.isEmpty ? 1 : 0)
            withUnsafeBytes(of: count.littleEndian) { output.append(contentsOf: $0) }
            withUnsafeBytes(of: (~count).littleEndian) { output.append(contentsOf: $0) }
            output.append(contentsOf: block)
        } while !rest.isEmpty
        withUnsafeBytes(of: crc32(bytes).littleEndian) { output.append(contentsOf: $0) }
        withUnsafeBytes(of: UInt32(truncatingIfNeeded: bytes.count).littleEndian) { output.append(contentsOf: $0) }
        return output
    }

    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? 0xEDB8_8320 ^ (value >> 1) : value >> 1 }
    }

    private static func crc32(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(~0) { table[Int(($0 ^ UInt32($1)) & 255)] ^ ($0 >> 8) }
    }
}
