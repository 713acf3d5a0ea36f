import Testing
import XferModel

/// The forms in which digests are published. The digests are of "abc" (FIPS 180-4, RFC 1321, RFC 7693).
@Suite struct ChecksumTests {
    private static let md5 = "900150983cd24fb0d6963f7d28e17f72"
    private static let sha1 = "a9993e364706816aba3e25717850c26c9cd0d89d"
    private static let sha224 = "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"
    private static let sha256 = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    private static let sha384 =
        "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7"
    private static let sha512 =
        "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
        + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
    private static let blake2b =
        "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
        + "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923"

    private func expect(_ text: String, _ algorithm: Checksum.Algorithm, _ hex: String) throws {
        let checksum = try Checksum(parsing: text)
        #expect(checksum.algorithm == algorithm && checksum.hexDigits == hex, "\(text)")
    }

    @Test func hexDigitsAloneAreToldApartByTheirNumber() throws {
        for (algorithm, hex) in [
            (Checksum.Algorithm.md5, Self.md5), (.sha1, Self.sha1), (.sha224, Self.sha224), (.sha256, Self.sha256),
            (.sha384, Self.sha384), (.sha512, Self.sha512),
        ] {
            try expect(hex, algorithm, hex)
            try expect(" \(hex.uppercased())\n", algorithm, hex)
        }
    }

    /// As md5sum(1), sha256sum(1) and b2sum(1) print them, with `--tag` and without, and openssl-dgst(1).
    @Test func linesOfChecksumFilesAreRead() throws {
        try expect("\(Self.sha256)  big file.iso", .sha256, Self.sha256)
        try expect("\(Self.sha256) *big.iso\n", .sha256, Self.sha256)
        try expect("\\\(Self.md5)  a\\nb", .md5, Self.md5)
        try expect("\(Self.sha512)\tx", .sha512, Self.sha512)
        try expect("SHA256 (big (1) = .iso) = \(Self.sha256)", .sha256, Self.sha256)
        try expect("MD5 (x) = \(Self.md5)", .md5, Self.md5)
        try expect("SHA384 (x) = \(Self.sha384)", .sha384, Self.sha384)
        try expect("BLAKE2b (x) = \(Self.blake2b)", .blake2b, Self.blake2b)
        try expect("SHA2-512(x)= \(Self.sha512)", .sha512, Self.sha512)
        try expect("SHA1(x)= \(Self.sha1)", .sha1, Self.sha1)
    }

    /// W3C Subresource Integrity §3: the strongest of several counts, options are ignored.
    @Test func integrityMetadataIsRead() throws {
        let (short, long) = (
            "sha256-ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0=",
            "sha384-ywB1P0WjXou1oD1pmsZQBycsMqsO3tFjGotgWkP/W+2AhgcroefMI1i67KE0yCWn"
        )
        try expect(short, .sha256, Self.sha256)
        try expect(long, .sha384, Self.sha384)
        try expect(
            "sha512-3a81oZNherrMQXNJriBBMRLm+k6JqX6iCp7u5ktV05ohkpkqJ0/BqDa6PCOj/uu9RU1EI2Q86A4qmslPpUyknw==", .sha512,
            Self.sha512)
        try expect("\(short)?ct=text/plain", .sha256, Self.sha256)
        try expect("\(short)  \(long) \(short)", .sha384, Self.sha384)
        try expect(short.replacing("+", with: "-").replacing("/", with: "_"), .sha256, Self.sha256)
        try expect("sha256-\(Self.sha256)", .sha256, Self.sha256)
    }

    @Test func algorithmsAreNamedInAnySpelling() throws {
        for name in ["sha-256", "SHA256", "Sha2-256", "sha_256"] {
            try expect("\(name)=\(Self.sha256)", .sha256, Self.sha256)
        }
        try expect("SHA256: \(Self.sha256)", .sha256, Self.sha256)
        try expect("sha-224=Iwl9IjQF2CKGQqR3vaJVsyqtvOS9oLP342ydpw==", .sha224, Self.sha224)
        try expect(
            "blake2b=uoClP5gcTQ1qJ5e2nxL26UwhLxRoWsS3SxK7b9v/otF9h8U5Kqt5LcJS1d5FM8yVGNOKqNvxklq5I4bt1ACZIw==",
            .blake2b, Self.blake2b)
        try expect("BLAKE2b-512:\(Self.blake2b)", .blake2b, Self.blake2b)
    }

    @Test func otherTextsAreRefusedWithTheReason() {
        let refused: [(String, ChecksumSyntaxError)] = [
            ("", .noAlgorithm), ("none", .noAlgorithm), ("sha512/256=00", .unknownAlgorithm("sha512/256")),
            ("sha-256=xyz", .notHexOrBase64), ("sha-256=00", .wrongLength(.sha256, expected: 32, found: 1)),
            ("sha256-AA==", .wrongLength(.sha256, expected: 32, found: 1)), ("sha256-*", .notHexOrBase64),
            ("abcd  name", .unknownLength(4)), ("CRC32 (x) = 00", .unknownAlgorithm("crc32")),
            ("MD5 (x) = \(Self.sha1)", .wrongLength(.md5, expected: 16, found: 20)),
            ("\(Self.md5)  a\n\(Self.md5)  b\n", .severalLines),
        ]
        for (text, reason) in refused {
            #expect(throws: reason, "\(text)") { try Checksum(parsing: text) }
        }
    }

    @Test(arguments: Checksum.Algorithm.allCases) func aShownChecksumIsReadAgain(algorithm: Checksum.Algorithm) throws {
        let bytes = (0..<algorithm.byteCount).map { UInt8(truncatingIfNeeded: $0 * 7) }
        let checksum = try #require(Checksum(algorithm: algorithm, bytes: bytes))
        #expect(try Checksum(parsing: checksum.description) == checksum)
    }
}
