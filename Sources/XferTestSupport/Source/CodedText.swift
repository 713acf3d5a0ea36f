public import XferModel

/// A short text under each content coding, and bombs: a few bytes that stand for 64 MiB of zeros.
public struct CodedText: Sendable, CustomStringConvertible {
    public let coding: ContentCoding
    public let bytes: [UInt8]

    public var description: String { "\(coding.rawValue), \(bytes.count) bytes" }

    private init(_ coding: ContentCoding, _ base64: String) {
        self.coding = coding
        bytes = Base64.decode(base64) ?? []
    }

    /// A Zstandard frame of blocks that stand for 128 KiB of zeros each (RFC 8878 §3.1.1.2).
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

    /// As some servers send "deflate": without the zlib format around it.
    public static let bareDeflate = Base64.decode("K8lIVSgszUzOVkgqyi/PU0jLr1AoGRUbFRsVA4sBAA==") ?? []

    public static let brotliBomb = CodedText(
        .brotli, "z///f/gnAOKxQCD3/p/////wTwDEYQGA7v0/////4Z8AiMMiAN37f/7//8M/ARCHBQC69/8D")
    public static let zstdBomb = CodedText(.zstd, runs: 512)
    public static let bombs = [brotliBomb, zstdBomb]
}
