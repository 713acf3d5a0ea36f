public import XferModel

/// A short text under each content coding, and bombs: a few bytes that decode to 64 MiB of zeros.
public struct CodedText: Sendable, CustomStringConvertible {
    public let coding: ContentCoding
    public let bytes: [UInt8]

    public var description: String { "\(coding.rawValue), \(bytes.count) bytes" }

    private init(_ coding: ContentCoding, _ base64: String) {
        self.coding = coding
        bytes = Base64.decode(base64) ?? []
    }

    /// A Zstandard frame of blocks that decode to 128 KiB of zeros each (RFC 8878 §3.1.1.2).
    private init(_ coding: ContentCoding, runs: Int) {
        self.coding = coding
        // Magic number, no content size, a window of 2 MiB.
        var frame: [UInt8] = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0x58]
        for number in 1...runs {
            let header = UInt32(128 << 10) << 3 | 1 << 1 | (number == runs ? 1 : 0)
            frame += [UInt8(header & 255), UInt8(header >> 8 & 255), UInt8(header >> 16 & 255), 0]
        }
        bytes = frame
    }

    public static let text = Array(String(repeating: "the quick brown fox ", count: 40).utf8)

    public static let gzip = CodedText(
        .gzip, "H4sIAAAAAAACAyvJSFUoLM1MzlZIKsovz1NIy69QKBkVGxUbFQOLAQBMqxk5IAMAAA==")
    public static let deflate = CodedText(.deflate, "eNoryUhVKCzNTM5WSCrKL89TSMuvUCgZFRsVGxUDiwEAv/YlCA==")
    public static let brotli = CodedText(.brotli, "ofgYwG+kdDMXNYgZHZ5Ce8tBJiktR9imo7JAujbmAQ==")
    public static let zstd = CodedText(.zstd, "KLUv/WQgAt0AAKB0aGUgcXVpY2sgYnJvd24gZm94IAEAEl41mWxxk8Y=")
    public static let all = [gzip, deflate, brotli, zstd]

    /// The text in the form that some servers send as "deflate": without the zlib format around it.
    public static let bareDeflate = Base64.decode("K8lIVSgszUzOVkgqyi/PU0jLr1AoGRUbFRsVA4sBAA==") ?? []

    public static let brotliBomb = CodedText(
        .brotli, "z///f/gnAOKxQCD3/p/////wTwDEYQGA7v0/////4Z8AiMMiAN37f/7//8M/ARCHBQC69/8D")
    public static let zstdBomb = CodedText(.zstd, runs: 512)
    public static let bombs = [brotliBomb, zstdBomb]
}

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
