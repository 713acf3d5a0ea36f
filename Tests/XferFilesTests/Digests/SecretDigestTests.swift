import Testing

@testable import XferFiles

@Suite struct SecretDigestTests {
    /// RFC 4231 §4.2 and §4.3.
    @Test func aSecretDigestIsHMACWithSHA256() throws {
        let first = SecretDigest(key: [UInt8](repeating: 0x0b, count: 20)).digest(Array("Hi There".utf8))
        #expect(
            try #require(first).hex == "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7")
        let second = SecretDigest(key: Array("Jefe".utf8)).digest(Array("what do ya want for nothing?".utf8))
        #expect(
            try #require(second).hex == "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843")
    }

    /// RFC 4231 §4.7: a key longer than a block is hashed first.
    @Test func aLongKeyIsHashedFirst() throws {
        let digest = SecretDigest(key: [UInt8](repeating: 0xaa, count: 131))
        let text = Array("Test Using Larger Than Block-Size Key - Hash Key First".utf8)
        for _ in 0..<2 {
            #expect(
                try #require(digest.digest(text)).hex
                    == "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54")
        }
    }

    @Test func anEmptyTextHasADigest() {
        #expect(SecretDigest(key: [1]).digest([])?.count == 32)
    }
}

extension [UInt8] {
    fileprivate var hex: String {
        map { byte in
            let digits = String(byte, radix: 16)
            return digits.count == 1 ? "0" + digits : digits
        }.joined()
    }
}
