import XferModel

/// OpenPGP's ASCII armour (RFC 9580 §6.2) around public keys. gpgv(1) reads binary keyrings only.
enum PGPArmour {
    private static let beginning = "-----BEGIN PGP PUBLIC KEY BLOCK-----"
    private static let end = "-----END PGP PUBLIC KEY BLOCK-----"

    /// True if the bytes contain a block of keys. The text around it may have any encoding.
    static func isArmoured(_ bytes: [UInt8]) -> Bool { bytes.firstRange(of: Array(beginning.utf8)) != nil }

    /// The keys of all blocks, one after the other; nil if a block is incomplete, or its checksum is wrong.
    static func decode(_ bytes: [UInt8]) -> [UInt8]? {
        var keys: [UInt8] = []
        var block: [Substring]?
        for line in String(decoding: bytes, as: UTF8.self).split(
            omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        {
            let line = line.trimmingBlanks
            if line == beginning {
                guard block == nil else { return nil }
                block = []
            } else if line == end {
                guard let lines = block, let decoded = body(lines) else { return nil }
                keys += decoded
                block = nil
            } else {
                block?.append(line)
            }
        }
        return block == nil ? keys : nil
    }

    /// The bytes of a block: after header fields and an empty line come base64 and the optional checksum.
    private static func body(_ lines: [Substring]) -> [UInt8]? {
        guard let empty = lines.firstIndex(where: \.isEmpty) else { return nil }
        var texts = lines[(empty + 1)...].filter { !$0.isEmpty }
        var expected: [UInt8]?
        if let last = texts.last, last.hasPrefix("="), last.utf8.count == 5 {
            guard let bytes = Base64.decode(String(last.dropFirst())) else { return nil }
            expected = bytes
            texts.removeLast()
        }
        guard let bytes = Base64.decode(texts.joined()), !bytes.isEmpty else { return nil }
        guard let expected else { return bytes }
        return expected == checksum(bytes) ? bytes : nil
    }

    /// CRC-24 (RFC 9580 §6.1.1).
    private static func checksum(_ bytes: [UInt8]) -> [UInt8] {
        var sum: UInt32 = 0xB7_04CE
        for byte in bytes {
            sum ^= UInt32(clamping: byte) << 16
            for _ in 0..<8 {
                sum <<= 1
                if sum & 0x100_0000 != 0 { sum ^= 0x186_4CFB }
            }
        }
        return [16, 8, 0].map { UInt8(truncatingIfNeeded: sum >> $0) }
    }
}
