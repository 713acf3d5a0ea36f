import Testing
import XferModel
import XferTestSupport

@Suite struct SourceTests {
    @Test func bytesOfAVersionDoNotDependOnTheRequestedRanges() {
        let source = SourceVersion.tagged(3, length: 20_001)
        let all = source.bytes
        #expect(all.count == 20_001)
        for range in [0..<1, 4095..<4097, 4096..<8192, 1..<20_001, 20_000..<20_001, 5..<5] as [Range<Int64>] {
            #expect(source.bytes(range) == Array(all[Int(range.lowerBound)..<Int(range.upperBound)]))
        }
    }

    @Test func pagesDifferWithinAndBetweenVersions() {
        let versions = (0..<8).map { SourceVersion.tagged($0, length: 1 << 20) }
        let pages = versions.flatMap { version in (0..<256).map { version.bytes($0 * 4096..<($0 + 1) * 4096) } }
        #expect(Set(pages).count == 8 * 256)
    }

    @Test func aSpliceOfVersionsIsDetected() throws {
        let (old, new) = (SourceVersion.tagged(1, length: 50_000), SourceVersion.tagged(2, length: 50_000))
        let directory = try TemporaryDirectory()
        try FileTree.write(old.bytes(0..<30_000) + new.bytes(30_000..<50_000), to: directory.file("f"))
        #expect(try !old.equals(file: directory.file("f")))
        #expect(try !new.equals(file: directory.file("f")))
        #expect(old.firstDifference(from: try FileTree.read(directory.file("f"))) == 30_000)
        try FileTree.write(old.bytes, to: directory.file("f"))
        #expect(try old.equals(file: directory.file("f")))
    }

    @Test func theDigestOfAKnownTextIsRight() {
        let expected = "sha-256=ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        #expect(Digest.of(Array("abc".utf8)).description == expected)
    }
}
