import Glibc
import Testing
import XferModel
import XferTestSupport

@testable import XferFiles

@Suite struct DigestTests {
    // FIPS 180-4 examples, RFC 1321 §A.5, RFC 3874 §3.1, RFC 7693 appendix A.
    @Test(
        arguments: [
            (Checksum.Algorithm.sha256, "", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"),
            (.sha256, "abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
            (.sha1, "abc", "a9993e364706816aba3e25717850c26c9cd0d89d"),
            (.sha224, "abc", "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"),
            (
                .sha384, "abc",
                "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7"
            ),
            (
                .blake2b, "abc",
                "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d17d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923"
            ),
            (.md5, "", "d41d8cd98f00b204e9800998ecf8427e"),
            (.md5, "message digest", "f96b697d7cb7938d525a2f31aaf161d0"),
            (
                .sha512, "abc",
                "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
            ),
        ])
    func digestsOfKnownVectorsAreRight(algorithm: Checksum.Algorithm, text: String, hex: String) throws {
        let base = try TestDirectory()
        let part = try PartialFile.create(in: base.handle(), named: "part")
        try part.put(text)
        #expect(try FileDigest.compute(part, algorithm: algorithm, length: Int64(text.utf8.count)).hexDigits == hex)
        #expect(try incremental(Array(text.utf8), algorithm, pieces: 3).hexDigits == hex)
    }

    @Test func theDigestOfAMillionLettersIsRight() throws {
        let bytes = [UInt8](repeating: UInt8(ascii: "a"), count: 1_000_000)
        let hex = "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"
        #expect(try incremental(bytes, .sha256, pieces: 977).hexDigits == hex)
    }

    @Test(arguments: [-1, 0, 1, 70_000])
    func filesAroundTheReadSizeAreHashedUpToTheRequestedLength(excess: Int) throws {
        let base = try TestDirectory()
        let part = try PartialFile.create(in: base.handle(), named: "part")
        var generator = SplitMix64(seed: 4)
        let bytes = (0..<FileDigest.readSize + excess).map { _ in UInt8.random(in: 0...255, using: &generator) }
        try part.put(String(decoding: bytes.map { $0 & 0x7F }, as: UTF8.self) + "more")
        let digest = try FileDigest.compute(part, algorithm: .sha256, length: Int64(bytes.count))
        #expect(try digest == incremental(bytes.map { $0 & 0x7F }, .sha256, pieces: 5))
    }

    @Test func aShortFileAnUnreadableFileAndACancellationAreReported() throws {
        let base = try TestDirectory()
        let part = try PartialFile.create(in: base.handle(), named: "part")
        try part.put("abc")
        #expect(throws: FileError.lengthMismatch(path: base.at("part"), expected: 4, found: 3)) {
            try FileDigest.compute(part, algorithm: .md5, length: 4)
        }
        #expect(throws: FileError.cancelled) {
            try FileDigest.compute(part, algorithm: .md5, length: 3, isCancelled: { true })
        }
        #expect(throws: FileError.system(operation: "read", path: "the file", code: EBADF)) {
            try FileDigest.compute(descriptor: -1, algorithm: .md5, length: 3)
        }
        part.close()
        #expect(throws: FileError.closed(path: base.at("part"))) {
            try FileDigest.compute(part, algorithm: .md5, length: 3)
        }
    }

    private func incremental(_ bytes: [UInt8], _ algorithm: Checksum.Algorithm, pieces: Int) throws -> Checksum {
        var context = try DigestContext(algorithm)
        let size = max(1, bytes.count / pieces)
        for start in stride(from: 0, to: bytes.count, by: size) {
            bytes[start..<min(start + size, bytes.count)].withUnsafeBytes { context.update($0) }
        }
        return try context.finish()
    }
}
